package io.fairgate.spring.actuator;

import io.fairgate.fairness.PoolStatus;
import io.fairgate.fairness.PoolStatus.GroupStatus;
import io.fairgate.fairness.PoolStatus.TenantStatus;
import io.fairgate.permit.PoolUnavailableException;
import io.fairgate.spring.fairshare.PermitPools;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** {@code /actuator/pools}: the state of every pool, by tenant and by group. */
@Endpoint(id = "pools")
public final class PoolsEndpoint {

    private final PermitPools pools;

    PoolsEndpoint(PermitPools pools) {
        this.pools = pools;
    }

    /** A {@link PoolStatus} as the page shows it. */
    public record Pool(
            int permits,
            int inFlight,
            int waiting,
            int collecting,
            double gainSeconds,
            List<Tenant> tenants,
            List<Group> groups) {

        static Pool of(PoolStatus status) {
            return new Pool(
                    status.permits(),
                    status.inFlight(),
                    status.waiting(),
                    status.collecting(),
                    seconds(status.gain()),
                    status.tenants().stream().map(Tenant::of).toList(),
                    status.groups().stream().map(Group::of).toList());
        }
    }

    /**
     * A {@link TenantStatus} as the page shows it, with the tenant's id as a text: a {@code TenantId} would be written
     * as an object.
     */
    public record Tenant(
            String tenant,
            double weight,
            int inFlight,
            int waiting,
            double share,
            double heldPermitSeconds,
            double lagPermitSeconds,
            @Nullable String parent) {

        static Tenant of(TenantStatus status) {
            return new Tenant(
                    status.tenant().value(),
                    status.weight(),
                    status.inFlight(),
                    status.waiting(),
                    status.share(),
                    seconds(status.held()),
                    seconds(status.lag()),
                    status.parent());
        }
    }

    /** A {@link GroupStatus} as the page shows it: all tenants of the group together. */
    public record Group(
            String group,
            double weight,
            int inFlight,
            int waiting,
            double share,
            double lagPermitSeconds,
            @Nullable String parent) {

        static Group of(GroupStatus status) {
            return new Group(
                    status.group(),
                    status.weight(),
                    status.inFlight(),
                    status.waiting(),
                    status.share(),
                    seconds(status.lag()),
                    status.parent());
        }
    }

    private static double seconds(Duration duration) {
        return duration.toNanos() / 1e9;
    }

    @ReadOperation
    public Mono<Map<String, Pool>> pools() {
        return Flux.fromIterable(pools.all())
                .concatMap(pool -> pool.snapshot()
                        .map(status -> Map.entry(pool.name(), Pool.of(status)))
                        .onErrorComplete(PoolUnavailableException.class))
                .collectMap(Map.Entry::getKey, Map.Entry::getValue, TreeMap::new);
    }
}
