package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.config.PolicyReader;
import io.fairgate.spring.policy.PolicyHolder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What the meters say of the tenants, groups and classes that wait, and of the routes and quotas that refuse. */
class WaitersInMetricsTest {

    private static final String POLICY = """
            tenants:
              identify:
                - { header: X-Tenant-Id, trusted-from: [127.0.0.0/8] }
              unknown: guest
              classes:
                batch: { weight: 1 }
              plans:
                guest: { parent: guests }
                plain: {}
                metered: { quotas: [ { name: burst, limit: 1, per: 1h, burst: 2 } ] }
              groups:
                acme: { quotas: [ { name: daily, limit: 1000, per: 1h } ] }
                guests: { quotas: [ { name: hourly, limit: 1000, per: 1h } ] }
              members:
                a: { plan: plain, parent: acme }
                b: { plan: plain }
                metered: { plan: metered }
            pools:
              pool: { permits: 1, max-wait: 30s }
            routes:
              - { id: fair, uri: "http://UPSTREAM", predicates: [ "Path=/fair/**" ], filters: [ "FairShare=pool" ] }
              - id: batch
                uri: http://UPSTREAM
                predicates: [ "Path=/batch/**" ]
                filters: [ { name: FairShare, args: { pool: pool, class: batch } } ]
            """;

    @RegisterExtension
    static final GatewayAndUpstream both = new GatewayAndUpstream();

    @BeforeAll
    static void start() {
        both.start(POLICY);
    }

    private static CompletableFuture<Answer> future(String path, String tenant) {
        return Answer.future(both.gateway().url(path), "X-Tenant-Id", tenant);
    }

    @Test
    void waiting_requests_are_shown_by_tenant_by_group_and_by_class() {
        CountDownLatch end = new CountDownLatch(1);
        both.upstream().on("/fair/held", exchange -> {
            exchange.await(end);
            ScriptedUpstream.OK.answer(exchange);
        });
        List<CompletableFuture<Answer>> requests = new ArrayList<>();
        requests.add(future("/fair/held", "b"));
        both.gateway().awaitInFlight("pool", 1);
        requests.add(future("/batch/x", "a"));
        requests.add(future("/batch/x", "a"));
        requests.add(future("/fair/x", "b"));
        both.gateway().awaitWaiting("pool", 3);
        requests.add(future("/batch/x", "b"));
        both.gateway().awaitWaiting("pool", 4);

        RunningGateway.eventually(() -> {
            MetricsPage page = MetricsPage.of(both.gateway());
            double waited = page.value("fairgate_tenant_oldest_wait_seconds", "pool", "pool", "tenant", "a");
            assertThat(waited).isGreaterThan(0.1);
            // It is alone in its group, which is behind.
            assertThat(page.value("fairgate_tenant_lag_permit_seconds", "pool", "pool", "tenant", "a"))
                    .isZero();
            assertThat(page.value("fairgate_tenant_lag_permit_seconds", "pool", "pool", "tenant", "b"))
                    .isLessThan(0);
            assertThat(page.value("fairgate_tenant_oldest_wait_seconds", "pool", "pool", "tenant", "metered"))
                    .isZero();
            assertThat(page.value("fairgate_group_waiting", "pool", "pool", "group", "acme"))
                    .isEqualTo(2);
            assertThat(page.value("fairgate_group_in_flight", "pool", "pool", "group", "acme"))
                    .isZero();
            assertThat(page.value("fairgate_group_share", "pool", "pool", "group", "acme"))
                    .isEqualTo(0.5);
            assertThat(page.value("fairgate_group_lag_permit_seconds", "pool", "pool", "group", "acme"))
                    .isGreaterThan(0.05);
            assertThat(page.value("fairgate_group_oldest_wait_seconds", "pool", "pool", "group", "acme"))
                    .isEqualTo(waited);
            assertThat(page.value("fairgate_class_waiting", "pool", "pool", "class", "batch"))
                    .isEqualTo(3);
            assertThat(page.value("fairgate_class_oldest_wait_seconds", "pool", "pool", "class", "batch"))
                    .isEqualTo(waited);
            assertThat(page.value("fairgate_class_waiting", "pool", "pool", "class", "_none"))
                    .isEqualTo(1);
            assertThat(page.value("fairgate_class_in_flight", "pool", "pool", "class", "_none"))
                    .isEqualTo(1);
        });
        end.countDown();
        requests.forEach(CompletableFuture::join);
    }

    @Test
    void requests_and_refusals_are_counted_by_route_and_quota() {
        MetricsPage before = MetricsPage.of(both.gateway());
        assertThat(future("/fair/x", "metered").join().status()).isEqualTo(200);
        assertThat(future("/batch/x", "metered").join().status()).isEqualTo(200);
        assertThat(future("/batch/x", "metered").join().status()).isEqualTo(429);
        assertThat(future("/nowhere", "metered").join().status()).isEqualTo(404);
        assertThat(both.ask("/fair/x").status()).isEqualTo(401);
        MetricsPage after = MetricsPage.of(both.gateway());

        assertMore(2, before, after, "fairgate_requests_total", "route", "fair");
        assertMore(2, before, after, "fairgate_requests_total", "route", "batch");
        assertMore(1, before, after, "fairgate_requests_total", "route", "none");
        assertMore(1, before, after, decisions("batch", "pool", "quota"));
        assertMore(1, before, after, decisions("fair", "none", "missing"));
        assertMore(1, before, after, decisions("none", "none", "no-route"));
        String[] quota = {"fairgate_quota_refusals_total", "tenant", "metered", "quota", "burst", "enforced", "true"};
        assertMore(1, before, after, quota);
        assertThat(after.value("fairgate_quota_capacity", "tenant", "metered", "quota", "burst"))
                .isEqualTo(2);
        assertThat(after.value("fairgate_quota_capacity", "tenant", "_group", "quota", "acme/daily"))
                .isEqualTo(1000);
        // Only unknown ids are in this group.
        assertThat(after.value("fairgate_quota_capacity", "tenant", "_group", "quota", "guests/hourly"))
                .isEqualTo(1000);
    }

    @Test
    void a_reload_changes_the_weight_that_is_shown() {
        assertThat(weightOfB()).isOne();
        put("plain: { weight: 7 }");
        assertThat(weightOfB()).isEqualTo(7);
        put("plain: {}");
        assertThat(weightOfB()).isOne();
    }

    private static double weightOfB() {
        return MetricsPage.of(both.gateway()).value("fairgate_tenant_weight", "pool", "pool", "tenant", "b");
    }

    private static void put(String plan) {
        String policy = POLICY.replace("plain: {}", plan).replace("UPSTREAM", "127.0.0.1:1");
        both.gateway()
                .context()
                .getBean(PolicyHolder.class)
                .replace(PolicyReader.read("test.yml", policy).policy());
    }

    private static String[] decisions(String route, String pool, String reason) {
        return new String[] {
            "fairgate_decisions_total", "route", route, "pool", pool, "reason", reason, "enforced", "true"
        };
    }

    private static void assertMore(int more, MetricsPage before, MetricsPage after, String... sample) {
        String[] tags = Arrays.copyOfRange(sample, 1, sample.length);
        assertThat(after.value(sample[0], tags) - before.value(sample[0], tags))
                .as("%s", List.of(sample))
                .isEqualTo(more);
    }
}
