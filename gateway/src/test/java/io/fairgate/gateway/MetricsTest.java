package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The meters as Prometheus scrapes them: their names and tags are promised, and their values are true. */
class MetricsTest {

    @RegisterExtension
    static final RunningGateway gateway = new RunningGateway();

    @RegisterExtension
    static final ScriptedUpstream upstream = new ScriptedUpstream();

    private CountDownLatch end = new CountDownLatch(1);

    @BeforeAll
    static void start() {
        gateway.start("""
                tenants:
                  identify:
                    - { header: X-Tenant-Id, trusted-from: [127.0.0.0/8] }
                  unknown: plain
                  plans:
                    plain: {}
                    heavy: { weight: 2.5 }
                    metered: { quotas: [ { name: hourly, limit: 1, per: 1h } ] }
                  members:
                    a: { plan: heavy }
                    b: { plan: plain }
                    metered: { plan: metered }
                pools:
                  pool: { permits: 2, max-waiting: 3, max-wait: 10s }
                  short: { permits: 1, max-waiting: 0 }
                routes:
                  - { id: fair, uri: "UPSTREAM", predicates: [ "Path=/fair/**" ], filters: [ "FairShare=pool" ] }
                  - { id: short, uri: "UPSTREAM", predicates: [ "Path=/short/**" ], filters: [ "FairShare=short" ] }
                """.replace("UPSTREAM", upstream.url()));
        // Some traffic, so that all counters exist.
        ask("/fair/x", "a");
        ask("/fair/x", "metered");
        ask("/fair/x", "metered");
        ask("/fair/x", "somebody");
        ask("/fair/x", "somebody-else");
        upstream.on("/fair/reset", ScriptedUpstream.Exchange::reset);
        ask("/fair/reset", "a");
    }

    @BeforeEach
    void hold() {
        end = new CountDownLatch(1);
        for (String path : List.of("/fair/held", "/short/held")) {
            upstream.on(path, exchange -> {
                exchange.await(end);
                ScriptedUpstream.OK.answer(exchange);
            });
        }
    }

    private static CompletableFuture<Answer> future(String path, String tenant) {
        return Answer.future(gateway.url(path), "X-Tenant-Id", tenant);
    }

    private static Answer ask(String path, String tenant) {
        return future(path, tenant).join();
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(textBlock = """
            fairgate_permits_limit,         gauge,     pool
            fairgate_permits_in_flight,     gauge,     pool
            fairgate_permits_accounted,     gauge,     pool
            fairgate_permits_waiting,       gauge,     pool
            fairgate_tenant_in_flight,      gauge,     pool tenant
            fairgate_tenant_waiting,        gauge,     pool tenant
            fairgate_tenant_share,          gauge,     pool tenant
            fairgate_tenant_weight,         gauge,     pool tenant
            fairgate_permit_seconds_total,  counter,   pool tenant
            fairgate_wait_seconds,          histogram, pool tenant outcome
            fairgate_hold_seconds,          histogram, pool tenant
            fairgate_refusals_total,        counter,   pool tenant reason enforced
            fairgate_failures_total,        counter,   pool tenant reason
            fairgate_quota_limit,           gauge,     tenant quota
            fairgate_quota_remaining,       gauge,     tenant quota
            """)
    void the_promised_meters_are_there_with_exactly_their_tags(String name, String type, String tags) {
        MetricsPage page = MetricsPage.of(gateway);
        Set<String> expected = new TreeSet<>(Arrays.asList(tags.split(" ")));
        assertThat(page.types()).containsEntry(name, type);
        if (type.equals("histogram")) {
            assertThat(page.tagNames(name + "_count")).containsExactly(expected);
            expected.add("le");
            assertThat(page.tagNames(name + "_bucket")).containsExactly(expected);
        } else {
            assertThat(page.tagNames(name)).containsExactly(expected);
        }
    }

    @Test
    void tenants_that_are_not_members_share_one_series() {
        assertThat(MetricsPage.of(gateway).tagValues("fairgate_", "tenant"))
                .containsExactlyInAnyOrder("a", "b", "metered", "_other");
    }

    @Test
    void gauges_show_held_permits_and_waiting_requests() {
        List<CompletableFuture<Answer>> requests = new ArrayList<>();
        requests.add(future("/fair/held", "a"));
        requests.add(future("/fair/held", "a"));
        gateway.awaitInFlight("pool", 2);
        requests.add(future("/fair/held", "b"));
        requests.add(future("/fair/held", "b"));
        requests.add(future("/fair/held", "stranger"));
        gateway.awaitWaiting("pool", 3);
        RunningGateway.eventually(() -> {
            MetricsPage page = MetricsPage.of(gateway);
            assertThat(page.value("fairgate_permits_limit", "pool", "pool")).isEqualTo(2);
            assertThat(page.value("fairgate_permits_in_flight", "pool", "pool")).isEqualTo(2);
            assertThat(page.value("fairgate_permits_accounted", "pool", "pool")).isEqualTo(2);
            assertThat(page.value("fairgate_permits_waiting", "pool", "pool")).isEqualTo(3);
            assertTenant(page, "fairgate_tenant_in_flight", 2, 0, 0);
            assertTenant(page, "fairgate_tenant_waiting", 0, 2, 1);
            assertTenant(page, "fairgate_tenant_weight", 2.5, 1, 1);
            // 2 permits by weights of 2.5, 1 and 1.
            assertThat(page.value("fairgate_tenant_share", "pool", "pool", "tenant", "a"))
                    .isBetween(1.0, 1.2);
        });
        end.countDown();
        requests.forEach(CompletableFuture::join);
        RunningGateway.eventually(() -> {
            MetricsPage page = MetricsPage.of(gateway);
            assertThat(page.value("fairgate_permits_in_flight", "pool", "pool")).isZero();
            assertThat(page.value("fairgate_permits_waiting", "pool", "pool")).isZero();
            assertTenant(page, "fairgate_tenant_in_flight", 0, 0, 0);
        });
    }

    private static void assertTenant(MetricsPage page, String meter, double a, double b, double other) {
        assertThat(page.value(meter, "pool", "pool", "tenant", "a")).as(meter).isEqualTo(a);
        assertThat(page.value(meter, "pool", "pool", "tenant", "b")).as(meter).isEqualTo(b);
        assertThat(page.value(meter, "pool", "pool", "tenant", "_other"))
                .as(meter)
                .isEqualTo(other);
    }

    @Test
    void permit_time_and_holds_are_counted_when_they_are_used() {
        MetricsPage before = MetricsPage.of(gateway);
        CompletableFuture<Answer> held = future("/fair/held", "b");
        gateway.awaitInFlight("pool", 1);
        double atFirst = permitSeconds(MetricsPage.of(gateway));
        // It grows while the permit is held, not only at the release.
        RunningGateway.eventually(() ->
                assertThat(permitSeconds(MetricsPage.of(gateway)) - atFirst).isGreaterThan(0.2));
        end.countDown();
        held.join();
        RunningGateway.eventually(() -> {
            MetricsPage after = MetricsPage.of(gateway);
            assertThat(holds(after, "count") - holds(before, "count")).isEqualTo(1);
            assertThat(holds(after, "sum") - holds(before, "sum"))
                    .isBetween(0.2, 20.0)
                    .isCloseTo(permitSeconds(after) - permitSeconds(before), org.assertj.core.data.Offset.offset(0.1));
        });
    }

    private static double permitSeconds(MetricsPage page) {
        return page.value("fairgate_permit_seconds_total", "pool", "pool", "tenant", "b");
    }

    private static double holds(MetricsPage page, String of) {
        return page.value("fairgate_hold_seconds_" + of, "pool", "pool", "tenant", "b");
    }

    @Test
    void waits_are_counted_by_outcome_and_refusals_by_reason() {
        MetricsPage before = MetricsPage.of(gateway);
        CompletableFuture<Answer> held = future("/short/held", "a");
        gateway.awaitInFlight("short", 1);
        assertThat(ask("/short/x", "b").status()).isEqualTo(503);
        end.countDown();
        held.join();
        MetricsPage after = MetricsPage.of(gateway);
        String[] refusal = {"pool", "short", "tenant", "b", "reason", "pool-queue-full", "enforced", "true"};
        assertThat(after.value("fairgate_refusals_total", refusal) - before.value("fairgate_refusals_total", refusal))
                .isEqualTo(1);
        assertThat(waits(after, "b", "pool-queue-full")).isEqualTo(1);
        assertThat(waits(after, "b", "granted")).isZero();
        assertThat(waits(after, "a", "granted")).isEqualTo(1);
    }

    private static double waits(MetricsPage page, String tenant, String outcome) {
        return page.value("fairgate_wait_seconds_count", "pool", "short", "tenant", tenant, "outcome", outcome);
    }

    @Test
    void quotas_show_their_balance_and_their_refusals_have_no_pool() {
        MetricsPage page = MetricsPage.of(gateway);
        assertThat(page.value("fairgate_quota_limit", "tenant", "metered", "quota", "hourly"))
                .isEqualTo(1);
        assertThat(page.samples()).containsEntry("fairgate_quota_remaining{quota=hourly, tenant=metered}", 0.0);
        assertThat(page.value(
                        "fairgate_refusals_total",
                        "pool",
                        "none",
                        "tenant",
                        "metered",
                        "reason",
                        "quota",
                        "enforced",
                        "true"))
                .isEqualTo(1);
    }

    @Test
    void the_page_can_be_scraped_under_load() {
        MetricsPage before = MetricsPage.of(gateway);
        List<CompletableFuture<Answer>> load = new ArrayList<>();
        List<MetricsPage> scrapes = new ArrayList<>();
        for (int round = 0; round < 10; round++) {
            for (int i = 0; i < 20; i++) {
                load.add(future("/fair/x", "b"));
            }
            scrapes.add(MetricsPage.of(gateway));
        }
        long passed =
                load.stream().filter(answer -> answer.join().status() == 200).count();
        assertThat(passed).isPositive();
        assertThat(scrapes)
                .allSatisfy(page -> assertThat(page.value("fairgate_permits_in_flight", "pool", "pool"))
                        .isBetween(0.0, 2.0));
        RunningGateway.eventually(() -> assertThat(holds(MetricsPage.of(gateway), "count") - holds(before, "count"))
                .isEqualTo((double) passed));
    }
}
