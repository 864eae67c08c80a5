package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Tenants with requests of seconds beside tenants with requests of milliseconds, all of them backlogged: both kinds get half of
 * the permit-time.
 *
 * <p>The upstream measures it for the long requests. It cannot for the short ones, because a large part of their permit-time is
 * spent in the gateway and the network. So the ratio of both is read from the gateway's own meters.
 *
 * <p>Two pools are under load at once, because their requests mostly wait.
 */
@Tag("long")
class MixedHoldsTest {

    private static final int LONG_MILLIS = 3_000;

    /** Each tenant is measured from the beginning of one of its long requests to the beginning of a later one. */
    private static final int FIRST = 1;

    private static final int LAST = 4;

    @RegisterExtension
    static final RunningGateway GATEWAY = new RunningGateway();

    @RegisterExtension
    static final ScriptedUpstream UPSTREAM = new ScriptedUpstream();

    private static final Load ONE_PERMIT = new Load(1, 10);
    private static final Load TEN_PERMITS = new Load(10, 20);

    /** A pool with as many tenants of each kind as it has permits, and their load. */
    private static final class Load {

        final int permits;
        final int shortMillis;
        final List<String> longTenants;
        final List<String> shortTenants;
        final MeasuredWork work = new MeasuredWork();
        final SteadyLoad requests = new SteadyLoad();

        /** By the gateway's meters. */
        double longShare;

        Load(int permits, int shortMillis) {
            this.permits = permits;
            this.shortMillis = shortMillis;
            longTenants = tenants("long");
            shortTenants = tenants("short");
        }

        private List<String> tenants(String kind) {
            return IntStream.range(0, permits)
                    .mapToObj(i -> "%s-%d-of-%d".formatted(kind, i, permits))
                    .toList();
        }

        void measure() {
            shortTenants.forEach(tenant -> keep(6, tenant, shortMillis));
            longTenants.forEach(tenant -> keep(3, tenant, LONG_MILLIS));
            awaitLongRequests(FIRST + 1);
            MetricsPage before = MetricsPage.upToDate(GATEWAY);
            awaitLongRequests(LAST + 1);
            MetricsPage after = MetricsPage.upToDate(GATEWAY);
            double longSeconds = permitSeconds(after, longTenants) - permitSeconds(before, longTenants);
            double shortSeconds = permitSeconds(after, shortTenants) - permitSeconds(before, shortTenants);
            longShare = longSeconds / (longSeconds + shortSeconds);
            work.end();
            requests.end();
        }

        private void keep(int requestsAtOnce, String tenant, int millis) {
            String path = "/%d/%s".formatted(permits, tenant);
            UPSTREAM.on(path, work.of(tenant, millis));
            requests.keep(requestsAtOnce, GATEWAY.url(path), tenant);
        }

        /** Waits until each tenant has begun this many requests. */
        private void awaitLongRequests(int count) {
            Awaitility.await()
                    .pollInterval(Duration.ofMillis(10))
                    .atMost(Duration.ofMinutes(2))
                    .until(() -> longTenants.stream().allMatch(tenant -> work.begun(tenant) >= count));
        }

        private double permitSeconds(MetricsPage meters, List<String> tenants) {
            return tenants.stream()
                    .mapToDouble(tenant ->
                            meters.value("fairgate_permit_seconds_total", "pool", "pool-" + permits, "tenant", tenant))
                    .sum();
        }

        /** When one of its requests begins, a tenant has its share, because its account decides about the grant. */
        double permitsByUpstream(String tenant) {
            List<Long> begins = work.begins(tenant);
            return work.share(tenant, 1, begins.get(FIRST), begins.get(LAST));
        }

        void assertHalf() {
            // Read while long requests are in flight, which count in part; and a hold is metered from the start of the
            // request, which on a busy machine is some time after the grant.
            assertThat(longShare).as("by the gateway's meters").isCloseTo(0.5, within(0.1));
            assertThat(longTenants.stream().mapToDouble(this::permitsByUpstream).average())
                    .as("by what the upstream measured")
                    .hasValueCloseTo(0.5, within(0.05));
            assertThat(longTenants)
                    .allSatisfy(tenant -> assertThat(permitsByUpstream(tenant)).isCloseTo(0.5, within(0.1)));
            assertThat(work.highest()).as("at once").isEqualTo(permits);
        }
    }

    @BeforeAll
    static void measure() {
        GATEWAY.start(policy());
        // The first page takes long.
        MetricsPage.of(GATEWAY);
        CompletableFuture<Void> one = CompletableFuture.runAsync(ONE_PERMIT::measure, task -> new Thread(task).start());
        TEN_PERMITS.measure();
        one.join();
    }

    private static String policy() {
        StringBuilder policy = new StringBuilder("""
                tenants:
                  identify:
                    - header: X-Tenant-Id
                      trusted-from: [127.0.0.0/8]
                  plans:
                    plan: {}
                  members:
                """);
        for (Load load : List.of(ONE_PERMIT, TEN_PERMITS)) {
            load.longTenants.forEach(tenant -> policy.append("    %s: { plan: plan }%n".formatted(tenant)));
            load.shortTenants.forEach(tenant -> policy.append("    %s: { plan: plan }%n".formatted(tenant)));
        }
        return policy.append("""
                pools:
                  pool-1: { permits: 1, max-wait: 60s }
                  pool-10: { permits: 10, max-wait: 60s }
                routes:
                  - id: one
                    uri: %1$s
                    predicates: [ "Path=/1/**" ]
                    filters: [ "FairShare=pool-1" ]
                  - id: ten
                    uri: %1$s
                    predicates: [ "Path=/10/**" ]
                    filters: [ "FairShare=pool-10" ]
                """.formatted(UPSTREAM.url())).toString();
    }

    @Test
    void one_permit_is_shared_equally_by_requests_of_3_s_and_requests_of_10_ms() {
        ONE_PERMIT.assertHalf();
    }

    @Test
    void ten_permits_are_shared_equally_by_ten_tenants_of_3_s_and_ten_of_20_ms() {
        TEN_PERMITS.assertHalf();
    }
}
