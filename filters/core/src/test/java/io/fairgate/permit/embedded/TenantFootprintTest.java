package io.fairgate.permit.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.permit.HeldPermits;
import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.PoolListener;
import io.fairgate.permit.PoolSettings;
import io.fairgate.policy.Cidr;
import io.fairgate.policy.IdentitySource;
import io.fairgate.policy.Policy;
import io.fairgate.policy.QuotaRule;
import io.fairgate.policy.QuotaSets;
import io.fairgate.policy.TenantPolicy;
import io.fairgate.quota.Quota;
import io.fairgate.shares.ShareSettings;
import io.fairgate.tenant.TenantId;
import io.fairgate.testkit.NothingLeft;
import io.fairgate.testkit.TestTime;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/**
 * The memory of a configured tenant with nothing in flight: at most a kilobyte, with its policy, its quotas and its place in a
 * pool. A used quota takes additional memory for as long as its window is remembered.
 */
class TenantFootprintTest {

    private static final int MEMBERS = 20_000;
    private static final int MOST_BYTES_EACH = 1024;

    @RegisterExtension
    final NothingLeft nothingLeft = new NothingLeft();

    private final TestTime time = nothingLeft.watch(new TestTime());

    private static Policy policy(int members) {
        Map<TenantId, TenantPolicy> tenants = new LinkedHashMap<>();
        List<QuotaRule> quotas = List.of(
                QuotaRule.of(new Quota.Rate("burst", 20, Duration.ofSeconds(1), 20)),
                QuotaRule.of(new Quota.Calendar("hourly", 1000, Quota.CalendarUnit.HOUR, ZoneOffset.UTC)));
        for (int i = 0; i < members; i++) {
            TenantId id = tenant(i);
            tenants.put(id, new TenantPolicy(id, "plan", ShareSettings.ofWeight(2), quotas));
        }
        return new Policy(
                List.of(new IdentitySource.Header("X-Tenant-Id", List.of(Cidr.parse("127.0.0.0/8")))),
                tenants,
                null,
                Map.of("pool", PoolSettings.ofPermits(8)));
    }

    private static TenantId tenant(int i) {
        return TenantId.of("tenant-" + i);
    }

    private EmbeddedPermitPool pool(Policy policy) {
        return nothingLeft.watch(
                new EmbeddedPermitPool("pool", PoolSettings.ofPermits(8), policy.shares(), time, PoolListener.NONE));
    }

    private static long heap() {
        System.gc();
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }

    @Test
    void an_idle_tenant_with_two_quotas_takes_at_most_its_bytes() {
        Policy few = policy(10);
        serve(few, pool(few));
        long before = heap();
        Policy policy = policy(MEMBERS);
        QuotaSets sets = new QuotaSets(policy);
        EmbeddedPermitPool pool = pool(policy);
        assertThat((heap() - before) / MEMBERS)
                .as("bytes each, before its first request")
                .isBetween(1L, (long) MOST_BYTES_EACH);

        serve(policy, pool);
        time.advanceBy(Duration.ofHours(2));
        assertThat((heap() - before) / MEMBERS)
                .as("bytes each, after its last request")
                .isBetween(1L, (long) MOST_BYTES_EACH);
        assertThat(sets.know(tenant(0))).isTrue();
    }

    /** Sends requests of each tenant, of which the last must wait for the first. */
    private static void serve(Policy policy, EmbeddedPermitPool pool) {
        for (TenantId id : policy.members().keySet()) {
            PermitRequest half = PermitRequest.of(id).withPermits(4).withEventLoop(Runnable::run);
            HeldPermits first = taken(pool, half);
            HeldPermits second = taken(pool, half);
            Mono<HeldPermits> waiting = pool.acquire(half).cache();
            Disposable asking = waiting.subscribe();
            first.release();
            second.release();
            Objects.requireNonNull(waiting.block()).release();
            asking.dispose();
        }
    }

    private static HeldPermits taken(EmbeddedPermitPool pool, PermitRequest request) {
        return Objects.requireNonNull(pool.acquire(request).block());
    }
}
