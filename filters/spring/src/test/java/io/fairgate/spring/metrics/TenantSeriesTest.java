package io.fairgate.spring.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.offset;

import io.fairgate.permit.HeldPermits;
import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.embedded.EmbeddedPermitPool;
import io.fairgate.policy.Cidr;
import io.fairgate.policy.Enforcement;
import io.fairgate.policy.Identification;
import io.fairgate.policy.IdentitySource;
import io.fairgate.policy.Policy;
import io.fairgate.policy.QuotaRule;
import io.fairgate.policy.QuotaTerms;
import io.fairgate.policy.TenantPolicy;
import io.fairgate.quota.Quota;
import io.fairgate.quota.embedded.EmbeddedQuotas;
import io.fairgate.shares.ShareSettings;
import io.fairgate.spring.fairshare.ByteBudget;
import io.fairgate.spring.fairshare.PermitPools;
import io.fairgate.spring.fairshare.PoolsPerInstance;
import io.fairgate.spring.policy.PolicyHolder;
import io.fairgate.tenant.TenantId;
import io.fairgate.testkit.TestTime;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which tenants have their own series, and that no count is lost or decreases; in virtual time. */
class TenantSeriesTest {

    static final String POOL = "pool";

    /** A pool with its meters, and the true numbers. */
    static final class Scene {
        private final TestTime time = new TestTime();
        private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
        private final PolicyHolder policy;
        private final TenantSeries series;
        private final PermitPool pool;
        private double usedSeconds;
        private long holds;
        private long refusals;
        private final List<Held> holding = new ArrayList<>();

        private record Held(HeldPermits permits, long since) {}

        Scene(int members, int most, String... pinned) {
            policy = new PolicyHolder(policy(members, pinned));
            FairgateMeters meters = new FairgateMeters(policy, registry, most, time);
            series = meters.series();
            PermitPools pools = new PermitPools(
                    policy.current(),
                    (name, settings, shares, listener) ->
                            new EmbeddedPermitPool(name, settings, shares, time, listener),
                    time,
                    meters,
                    PoolsPerInstance.NONE);
            FairgateGauges gauges = new FairgateGauges(
                    policy.current(),
                    pools,
                    new EmbeddedQuotas(time, () -> Instant.EPOCH),
                    new ByteBudget(1000),
                    meters,
                    time);
            policy.add(meters);
            policy.add(pools);
            policy.add(gauges);
            gauges.bindTo(registry);
            pool = Objects.requireNonNull(pools.get(POOL));
        }

        static Policy policy(int members, String... pinned) {
            Map<TenantId, TenantPolicy> tenants = new LinkedHashMap<>();
            List<QuotaRule> quotas = List.of(QuotaRule.of(new Quota.Rate("rate", 10, Duration.ofSeconds(1), 10)));
            for (int i = 0; i < members; i++) {
                TenantId id = tenant(i);
                tenants.put(id, new TenantPolicy(id, "plan", ShareSettings.EQUAL, quotas));
            }
            Set<TenantId> named = new TreeSet<>(java.util.Comparator.comparing(TenantId::value));
            for (String each : pinned) {
                named.add(TenantId.of(each));
            }
            return new Policy(
                    new Identification(
                            List.of(new IdentitySource.Header("X-Tenant-Id", List.of(Cidr.parse("127.0.0.1"))))),
                    tenants,
                    null,
                    Map.of(POOL, new PoolSettings(4, 0, Duration.ofSeconds(1), Duration.ofDays(30))),
                    Map.of(),
                    Map.of(),
                    QuotaTerms.NONE,
                    Enforcement.FULL,
                    named,
                    Map.of(),
                    Map.of());
        }

        static TenantId tenant(int i) {
            return TenantId.of("t" + i);
        }

        void pass(Duration duration) {
            time.advanceBy(duration);
        }

        /** Takes a permit, or counts a refusal. */
        void take(int tenant) {
            pool.acquire(PermitRequest.of(tenant(tenant)).withEventLoop(Runnable::run))
                    .subscribe(
                            held -> holding.add(new Held(held, time.now(TimeUnit.NANOSECONDS))), refused -> refusals++);
        }

        void release(int i) {
            Held held = holding.remove(i);
            held.permits.release();
            holds++;
            usedSeconds += seconds(held);
        }

        private double seconds(Held held) {
            return (time.now(TimeUnit.NANOSECONDS) - held.since) / 1e9;
        }

        double trulyUsed() {
            return usedSeconds + holding.stream().mapToDouble(this::seconds).sum();
        }

        void use(int tenant, Duration duration) {
            take(tenant);
            pass(duration);
            release(holding.size() - 1);
        }

        /** Two scrapes: the first decides which tenants have series. */
        void look() {
            pass(Duration.ofSeconds(11));
            scrape();
            pass(Duration.ofMillis(200));
        }

        /** Every counter with a tenant, by its name and tags. */
        Map<String, Double> scrape() {
            pass(Duration.ofMillis(200));
            Map<String, Double> page = new HashMap<>();
            registry.getMeters().forEach(meter -> {
                String tags = meter.getId().getTags().toString();
                if (meter.getId().getTag("tenant") == null) {
                    return;
                }
                if (meter instanceof FunctionCounter counter) {
                    page.put(meter.getId().getName() + tags, counter.count());
                } else if (meter instanceof Counter counter) {
                    page.put(meter.getId().getName() + tags, counter.count());
                } else if (meter instanceof Timer timer) {
                    page.put(meter.getId().getName() + ".count" + tags, (double) timer.count());
                    page.put(meter.getId().getName() + ".sum" + tags, timer.totalTime(TimeUnit.SECONDS));
                }
            });
            pass(Duration.ZERO);
            return page;
        }

        Set<String> tenantsOf(Meter meter) {
            Set<String> tenants = new TreeSet<>();
            registry.find(meter.id())
                    .meters()
                    .forEach(each -> tenants.add(each.getId().getTag("tenant")));
            return tenants;
        }

        double value(Meter meter, String tenant) {
            @Nullable Double value = scrape().get(meter.id() + List.of(tag("pool", POOL), tag("tenant", tenant)));
            return value == null ? Double.NaN : value;
        }

        private static io.micrometer.core.instrument.Tag tag(String key, String value) {
            return io.micrometer.core.instrument.Tag.of(key, value);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void no_counter_decreases_and_no_count_is_lost_while_tenants_change(long seed) {
        Random random = new Random(seed);
        Scene scene = new Scene(50, 3, "t48", "t49");
        Map<String, Double> last = new HashMap<>();
        Map<String, Double> gone = new HashMap<>();
        Set<String> everShown = new TreeSet<>();
        int ends = 0;
        for (int step = 0; step < 4_000; step++) {
            // The heavy tenants change from time to time, and some return.
            int heavy = 7 * (step / 150 % 9);
            int tenant = random.nextInt(4) > 0 ? heavy + random.nextInt(3) : random.nextInt(50);
            switch (random.nextInt(6)) {
                case 0, 1 -> scene.take(tenant % 50);
                case 2, 3 -> {
                    if (!scene.holding.isEmpty()) {
                        scene.release(random.nextInt(scene.holding.size()));
                    }
                }
                case 4 -> scene.pass(Duration.ofMillis(random.nextInt(10) == 0 ? 600_000 : random.nextInt(30_000)));
                default -> {
                    Map<String, Double> page = scene.scrape();
                    for (Map.Entry<String, Double> each : last.entrySet()) {
                        Double now = page.get(each.getKey());
                        if (now == null) {
                            gone.merge(each.getKey(), each.getValue(), Double::sum);
                            ends++;
                        } else {
                            assertThat(now).as(each.getKey()).isGreaterThanOrEqualTo(each.getValue());
                        }
                    }
                    last = page;
                    assertSum(page, gone, "fairgate.hold.count", (double) scene.holds);
                    assertSum(page, gone, "fairgate.hold.sum", scene.usedSeconds);
                    assertSum(page, gone, "fairgate.refusals", (double) scene.refusals);
                    assertSum(page, gone, "fairgate.permit.seconds", scene.trulyUsed());
                    Set<String> shown = scene.tenantsOf(Meter.TENANT_IN_FLIGHT);
                    everShown.addAll(shown);
                    assertThat(shown).contains("t48", "t49", "_other").hasSizeLessThanOrEqualTo(3 + 2 + 1);
                    assertThat(scene.tenantsOf(Meter.PERMIT_SECONDS))
                            .containsAll(shown)
                            .hasSizeLessThanOrEqualTo(3 + 3 + 2 + 1);
                    assertThat(scene.tenantsOf(Meter.HOLD)).hasSizeLessThanOrEqualTo(3 + 3 + 2 + 1);
                }
            }
        }
        assertThat(everShown).as("tenants that were shown at some time").hasSizeGreaterThan(12);
        assertThat(ends).as("series that ended").isPositive();
        while (!scene.holding.isEmpty()) {
            scene.release(0);
        }
    }

    private static void assertSum(Map<String, Double> page, Map<String, Double> gone, String name, double expected) {
        double sum = 0;
        for (Map<String, Double> part : List.of(page, gone)) {
            for (Map.Entry<String, Double> each : part.entrySet()) {
                sum += each.getKey().startsWith(name + "[") ? each.getValue() : 0;
            }
        }
        assertThat(sum).as(name).isEqualTo(expected, offset(1e-3));
    }

    @Test
    void the_most_active_tenants_are_those_with_the_most_permit_time() {
        Scene scene = new Scene(50, 3);
        // The first tenants have series, but are not among the most active.
        for (int i = 10; i < 13; i++) {
            scene.use(i, Duration.ofMillis(1));
        }
        scene.look();
        assertThat(scene.tenantsOf(Meter.TENANT_SHARE)).containsExactly("_other", "t10", "t11", "t12");
        for (int round = 0; round < 5; round++) {
            for (int i = 0; i < 3; i++) {
                scene.use(i, Duration.ofSeconds(5));
            }
            for (int i = 3; i < 50; i++) {
                for (int times = 0; times < 20; times++) {
                    scene.use(i, Duration.ofMillis(1));
                }
            }
            scene.look();
            assertThat(scene.tenantsOf(Meter.TENANT_SHARE)).containsExactly("_other", "t0", "t1", "t2");
        }
    }

    @Test
    void a_tenant_with_a_long_hold_is_active_before_its_release() {
        Scene scene = new Scene(50, 1);
        scene.use(7, Duration.ofMillis(10));
        scene.take(8);
        scene.pass(Duration.ofMinutes(10));
        scene.look();
        assertThat(scene.tenantsOf(Meter.TENANT_SHARE)).containsExactly("_other", "t8");
        assertThat(scene.value(Meter.PERMIT_SECONDS, "_other") + scene.value(Meter.PERMIT_SECONDS, "t8"))
                .isEqualTo(scene.trulyUsed(), offset(0.3));
        scene.release(0);
    }

    @Test
    void a_series_that_returns_continues_its_count() {
        Scene scene = new Scene(50, 1);
        scene.use(0, Duration.ofSeconds(1));
        scene.look();
        scene.use(1, Duration.ofSeconds(20));
        scene.look();
        assertThat(scene.tenantsOf(Meter.TENANT_WEIGHT)).containsExactly("_other", "t1");
        scene.use(0, Duration.ofSeconds(40));
        assertThat(scene.value(Meter.PERMIT_SECONDS, "t0")).as("stands still").isEqualTo(1, offset(1e-6));
        scene.look();
        assertThat(scene.tenantsOf(Meter.TENANT_WEIGHT)).containsExactly("_other", "t0");
        scene.use(0, Duration.ofSeconds(2));
        assertThat(scene.value(Meter.PERMIT_SECONDS, "t0")).isEqualTo(3, offset(1e-6));
        assertThat(scene.value(Meter.PERMIT_SECONDS, "_other")).isEqualTo(60, offset(1e-6));
    }

    @Test
    void a_series_ends_after_an_hour_and_does_not_return_at_once() {
        Scene scene = new Scene(50, 1);
        scene.use(0, Duration.ofSeconds(1));
        scene.look();
        for (int i = 0; i < 2; i++) {
            scene.use(49, Duration.ofSeconds(10));
            scene.look();
        }
        scene.use(2, Duration.ofSeconds(100));
        scene.look();
        assertThat(scene.tenantsOf(Meter.HOLD)).as("t0 is kept").containsExactly("_other", "t0", "t49");
        scene.pass(Duration.ofHours(1));
        scene.use(2, Duration.ofSeconds(100));
        scene.look();
        assertThat(scene.tenantsOf(Meter.HOLD)).as("t0 has ended").containsExactly("_other", "t49");
        assertThat(scene.tenantsOf(Meter.PERMIT_SECONDS)).containsExactly("_other", "t2", "t49");

        // Now there is room for t0, and it is by far the most active.
        scene.policy.replace(Scene.policy(49));
        scene.use(0, Duration.ofMinutes(9));
        scene.look();
        assertThat(scene.series.shown()).as("t0 ended just now").containsExactly(Scene.tenant(2));
        scene.use(0, Duration.ofMinutes(1));
        scene.look();
        assertThat(scene.series.shown()).containsExactly(Scene.tenant(0));
    }

    @Test
    void old_usage_counts_less() {
        Scene scene = new Scene(50, 1);
        scene.use(0, Duration.ofSeconds(100));
        scene.look();
        scene.pass(Duration.ofHours(1));
        scene.use(1, Duration.ofSeconds(10));
        scene.look();
        assertThat(scene.series.shown()).containsExactly(Scene.tenant(1));
    }

    @Test
    void a_series_is_not_replaced_by_that_of_a_less_active_tenant() {
        Scene scene = new Scene(50, 1);
        scene.use(0, Duration.ofSeconds(10));
        scene.look();
        scene.use(1, Duration.ofSeconds(100));
        scene.look();
        for (int i = 0; i < 3; i++) {
            scene.use(0, Duration.ofMillis(10));
            scene.look();
            assertThat(scene.series.shown()).containsExactly(Scene.tenant(1));
        }
    }

    @Test
    void a_tenant_of_similar_activity_does_not_take_the_place_of_one_that_is_shown() {
        Scene scene = new Scene(50, 1);
        scene.use(0, Duration.ofSeconds(10));
        scene.look();
        scene.use(1, Duration.ofSeconds(12));
        scene.look();
        assertThat(scene.series.shown()).containsExactly(Scene.tenant(0));
        scene.use(1, Duration.ofSeconds(10));
        scene.look();
        assertThat(scene.series.shown()).containsExactly(Scene.tenant(1));
    }

    @Test
    void a_reload_that_names_a_tenant_gives_it_a_series_and_counts_nothing_twice() {
        Scene scene = new Scene(50, 1);
        scene.use(0, Duration.ofMinutes(5));
        scene.look();
        scene.take(1);
        scene.pass(Duration.ofSeconds(2));
        scene.look();
        assertThat(scene.series.shown()).containsExactly(Scene.tenant(0));
        scene.policy.replace(Scene.policy(50, "t1"));
        scene.pass(Duration.ZERO);
        assertThat(scene.series.shown()).containsExactlyInAnyOrder(Scene.tenant(0), Scene.tenant(1));
        scene.pass(Duration.ofSeconds(5));
        assertThat(scene.value(Meter.PERMIT_SECONDS, "t1")).isEqualTo(5, offset(0.5));
        assertSum(scene.scrape(), Map.of(), "fairgate.permit.seconds", scene.trulyUsed());
        scene.release(0);
    }

    @Test
    void a_tenant_that_is_no_longer_named_has_a_series_only_if_active() {
        Scene scene = new Scene(50, 1, "t1", "t2");
        scene.use(0, Duration.ofMinutes(5));
        scene.look();
        scene.policy.replace(Scene.policy(50));
        scene.look();
        assertThat(scene.series.shown()).containsExactly(Scene.tenant(0));
        assertThat(scene.series.kept()).as("at most as many as are shown").hasSize(1);
    }

    @Test
    void a_member_that_has_used_nothing_of_late_is_forgotten() {
        TenantActivity activity = new TenantActivity(Set.of(Scene.tenant(0), Scene.tenant(1)), 0);
        activity.add(Scene.tenant(0), 3600);
        activity.add(Scene.tenant(2), 3600);
        assertThat(activity.measure(0)).as("of members only").containsOnlyKeys(Scene.tenant(0));
        activity.add(Scene.tenant(1), 1);
        assertThat(activity.measure(Duration.ofHours(3).toNanos())).containsOnlyKeys(Scene.tenant(1));
    }

    @Test
    void a_scrape_of_twenty_thousand_active_members_is_as_large_as_one_of_two_hundred() {
        assertThat(metersAfterAllHaveCome(20_000)).isEqualTo(metersAfterAllHaveCome(200));
    }

    private static int metersAfterAllHaveCome(int members) {
        Scene scene = new Scene(members, 20);
        for (int i = 0; i < members; i++) {
            scene.use(i, Duration.ofMillis(1));
        }
        scene.look();
        assertThat(scene.series.shown()).hasSize(20);
        return scene.registry.getMeters().size();
    }

    @Test
    void all_members_have_series_from_the_start_if_there_is_room() {
        Scene scene = new Scene(3, 3);
        assertThat(scene.tenantsOf(Meter.QUOTA_LIMIT)).containsExactly("t0", "t1", "t2");
        assertThat(scene.tenantsOf(Meter.TENANT_WEIGHT)).containsExactly("_other", "t0", "t1", "t2");
    }

    @Test
    void many_small_users_do_not_hide_a_heavy_one() {
        Scene scene = new Scene(20_001, 1);
        for (int i = 0; i < 100_000; i++) {
            scene.series.used(Scene.tenant(1 + i % 20_000), 0.001);
            scene.series.used(Scene.tenant(0), i % 10 == 0 ? 0.01 : 0);
        }
        scene.look();
        assertThat(scene.series.shown()).containsExactly(Scene.tenant(0));
    }
}
