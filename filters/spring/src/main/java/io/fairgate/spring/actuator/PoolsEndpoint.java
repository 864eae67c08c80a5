package io.fairgate.spring.actuator;

import io.fairgate.permit.PoolUnavailableException;
import io.fairgate.spring.fairshare.PermitPools;
import io.fairgate.status.PoolStatus;
import io.fairgate.status.PoolStatus.ClassStatus;
import io.fairgate.status.PoolStatus.GroupStatus;
import io.fairgate.status.PoolStatus.TenantStatus;
import io.fairgate.status.SliceStatus;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** {@code /actuator/pools}: the state of every pool, by tenant and by group. */
@Endpoint(id = "pools")
public record PoolsEndpoint(PermitPools byName) {

    private static final Map<String, Object> LOST = Map.of("permits", 0, "backendLost", true);

    /** A {@link PoolStatus} for each pool, as the page shows it. */
    @ReadOperation
    public Mono<Map<String, Map<String, Object>>> pools() {
        return Flux.fromIterable(byName.all())
                .concatMap(pool -> pool.snapshot()
                        .map(status -> Map.entry(pool.name(), shown(status, pool.slice())))
                        .onErrorReturn(PoolUnavailableException.class, Map.entry(pool.name(), LOST)))
                .collectMap(Map.Entry::getKey, Map.Entry::getValue, TreeMap::new);
    }

    /**
     * One pool.
     *
     * @param slice the part of it that this gateway has; null when it has all of it
     */
    private static Map<String, Object> shown(PoolStatus status, @Nullable SliceStatus slice) {
        if (slice != null && !slice.isInForce()) {
            return LOST;
        }
        Map<String, Object> pool = new LinkedHashMap<>();
        pool.put("permits", status.permits());
        if (slice != null) {
            pool.put("permitsHere", slice.permits());
        }
        pool.put("inFlight", status.inFlight());
        pool.put("waiting", status.waiting());
        pool.put("collecting", status.collecting());
        pool.put("gainSeconds", seconds(status.gain()));
        pool.put("tenants", status.tenants().stream().map(PoolsEndpoint::shown).toList());
        pool.put("groups", status.groups().stream().map(PoolsEndpoint::shown).toList());
        return pool;
    }

    private static Map<String, @Nullable Object> shown(TenantStatus status) {
        Map<String, @Nullable Object> tenant = new LinkedHashMap<>();
        tenant.put("tenant", status.tenant().value());
        tenant.put("weight", status.weight());
        tenant.put("inFlight", status.inFlight());
        tenant.put("waiting", status.waiting());
        tenant.put("share", status.share());
        tenant.put("heldPermitSeconds", seconds(status.held()));
        tenant.put("lagPermitSeconds", seconds(status.lag()));
        tenant.put("oldestWaitSeconds", seconds(status.oldestWait()));
        tenant.put("parent", status.parent());
        if (!status.classes().isEmpty()) {
            tenant.put(
                    "classes",
                    status.classes().stream().map(PoolsEndpoint::shown).toList());
        }
        return tenant;
    }

    private static Map<String, @Nullable Object> shown(GroupStatus status) {
        Map<String, @Nullable Object> group = new LinkedHashMap<>();
        group.put("group", status.group());
        group.put("weight", status.weight());
        group.put("inFlight", status.inFlight());
        group.put("waiting", status.waiting());
        group.put("share", status.share());
        group.put("lagPermitSeconds", seconds(status.lag()));
        group.put("oldestWaitSeconds", seconds(status.oldestWait()));
        group.put("parent", status.parent());
        return group;
    }

    private static Map<String, Object> shown(ClassStatus status) {
        Map<String, Object> ofClass = new LinkedHashMap<>();
        ofClass.put("class", status.name());
        ofClass.put("inFlight", status.inFlight());
        ofClass.put("waiting", status.waiting());
        ofClass.put("oldestWaitSeconds", seconds(status.oldestWait()));
        return ofClass;
    }

    private static double seconds(Duration duration) {
        return duration.toNanos() / 1e9;
    }
}
