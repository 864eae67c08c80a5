package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.fairgate.status.PoolStatus.TenantStatus;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Leases of all permits of a pool, beside a tenant that sends ordinary requests all the time. */
class LargeLeasesTest {

    private static final int PERMITS = 4;
    private static final String ALL_PERMITS = "{\"permits\":4,\"ttl\":\"2m\",\"maxWait\":\"30s\"}";

    private static final boolean WHOLE_MINUTE = "all".equals(System.getProperty("fairgate.regimes"));

    /**
     * The requests answered during the lease of one permit, at most 60 in a second: some seconds, or a minute with
     * {@code -Dfairgate.regimes=all}.
     */
    private static final int ANSWERED_BESIDE_LEASE = WHOLE_MINUTE ? 3_600 : 300;

    /** As part of that time. */
    private static final double LONGEST_GAP = WHOLE_MINUTE ? 0.05 : 0.25;

    @RegisterExtension
    final RunningGateway gateway = new RunningGateway();

    @RegisterExtension
    final ScriptedUpstream upstream = new ScriptedUpstream();

    private final MeasuredWork work = new MeasuredWork();
    private final SteadyLoad requests = new SteadyLoad();
    private final LeasingTenant a = new LeasingTenant(gateway, "a");
    private final LeasingTenant c = new LeasingTenant(gateway, "c");

    private void start(String planOfC) {
        upstream.on("/fair/b", work.of("b", 50));
        LeasingTenant.start(
                gateway,
                TestPolicy.onePool(upstream.url(), "permits: %d, max-wait: 60s, max-collect: 1s".formatted(PERMITS))
                        .replace("c: { plan: plan }", "c: { plan: plan%s }".formatted(planOfC)));
        // The first page takes long.
        MetricsPage.of(gateway);
    }

    private void keepAskingForB() {
        requests.keep(10, gateway.url("/fair/b"), "b");
    }

    private static void await(Callable<Boolean> event) {
        Awaitility.await()
                .pollInterval(Duration.ofMillis(10))
                .atMost(Duration.ofMinutes(2))
                .until(event);
    }

    private static CompletableFuture<Void> inThread(Runnable work) {
        return CompletableFuture.runAsync(work, task -> new Thread(task, "lease-holder").start());
    }

    /** Between two pages of the gateway's meters. */
    private static double permitSeconds(String tenant, MetricsPage before, MetricsPage after) {
        String name = "fairgate_permit_seconds_total";
        return after.value(name, "pool", "pool", "tenant", tenant)
                - before.value(name, "pool", "pool", "tenant", tenant);
    }

    private static double allPermitSeconds(MetricsPage before, MetricsPage after) {
        String name = "process_uptime_seconds";
        return PERMITS * (after.value(name) - before.value(name));
    }

    /** Acquires a lease of all permits, works, and releases it. */
    private void workUnderLease(LeasingTenant tenant, String key) {
        Answer lease = tenant.acquire(key, "pool", ALL_PERMITS);
        while (lease.status() == 202) {
            lease = tenant.acquire(key, "pool", ALL_PERMITS);
        }
        assertThat(lease.status()).as(lease.body()).isEqualTo(201);
        try {
            work.work(tenant.tenant(), PERMITS, 300);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        tenant.release(lease.json("id"));
    }

    @Tag("long")
    @Test
    void a_guarantee_of_1_does_not_help_leases_of_all_permits() {
        start(", guaranteed: 1");
        List<CompletableFuture<Void>> holders = new ArrayList<>();
        keepAskingForB();
        for (int holder = 0; holder < 3; holder++) {
            String keys = "holder-" + holder + "-";
            holders.add(inThread(() -> {
                for (int i = 0; work.begun("c") < 16; i++) {
                    workUnderLease(c, keys + i);
                }
            }));
        }
        await(() -> work.begun("c") >= 3);
        MetricsPage before = MetricsPage.upToDate(gateway);
        await(() -> work.begun("c") >= 13);
        MetricsPage after = MetricsPage.upToDate(gateway);
        holders.forEach(CompletableFuture::join);
        requests.end();

        assertThat(permitSeconds("b", before, after) / allPermitSeconds(before, after))
                .as("the other tenant's share of all permit-time")
                .isCloseTo(0.5, within(0.1));
        List<Long> begins = work.begins("c");
        assertThat(work.share("c", PERMITS, begins.get(2), begins.get(12)))
                .as("worked under leases")
                .isBetween(0.25, 0.55);
        assertThat(work.highest()).isEqualTo(PERMITS);
    }

    @Test
    void requests_are_answered_while_a_lease_of_all_permits_waits() {
        start("");
        String longLease =
                c.acquire("long", "pool", "{\"permits\":1,\"ttl\":\"5m\"}").json("id");
        keepAskingForB();
        await(() -> work.begun("b") > 20);
        MetricsPage before = MetricsPage.upToDate(gateway);
        int first = work.begun("b");
        CompletableFuture<Void> large = inThread(() -> workUnderLease(a, "large"));
        await(() -> work.begun("b") >= first + ANSWERED_BESIDE_LEASE);
        int last = work.begun("b");
        MetricsPage after = MetricsPage.upToDate(gateway);
        assertThat(waiting("a")).as("the large one still waits").isOne();
        c.release(longLease);
        large.join();
        requests.end();

        // The long lease has held one permit all the time.
        assertThat(permitSeconds("b", before, after) / (PERMITS - 1) / permitSeconds("c", before, after))
                .as("used of the permits beside the long lease")
                .isGreaterThan(0.75);
        assertThat(longestGap(work.begins("b").subList(first, last)))
                .as("longest time without a request, as part of the whole")
                .isLessThan(LONGEST_GAP);
        assertThat(work.highest()).isEqualTo(PERMITS);
    }

    private int waiting(String tenant) {
        return gateway.pool("pool").tenants().stream()
                .filter(status -> status.tenant().equals(TenantId.of(tenant)))
                .mapToInt(TenantStatus::waiting)
                .sum();
    }

    private static double longestGap(List<Long> moments) {
        long longest = 0;
        for (int i = 1; i < moments.size(); i++) {
            longest = Math.max(longest, moments.get(i) - moments.get(i - 1));
        }
        return (double) longest / (moments.get(moments.size() - 1) - moments.get(0));
    }
}
