package io.fairgate.spring.fairshare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairgate.permit.HeldPermits;
import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.embedded.EmbeddedPermitPool;
import io.fairgate.policy.Cidr;
import io.fairgate.policy.Enforcement;
import io.fairgate.policy.IdentitySource;
import io.fairgate.policy.Policy;
import io.fairgate.policy.QuotaTerms;
import io.fairgate.policy.TenantPolicy;
import io.fairgate.shares.ShareSettings;
import io.fairgate.spring.metrics.FairgateMeters;
import io.fairgate.spring.metrics.Meter;
import io.fairgate.spring.policy.PolicyHolder;
import io.fairgate.status.PoolTotals;
import io.fairgate.tenant.TenantId;
import io.fairgate.testkit.NothingLeft;
import io.fairgate.testkit.TestTime;
import io.fairgate.testkit.odd.Network;
import io.fairgate.testkit.odd.OddPool;
import io.fairgate.upstream.Instance;
import io.fairgate.upstream.Upstream;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Pools that come and go with the policy, in virtual time. */
class PermitPoolsTest {

    private static final TenantId ACME = TenantId.of("acme");
    private static final Duration LONG = Duration.ofSeconds(11);

    private final TestTime time = new TestTime();
    private final PolicyHolder policy = new PolicyHolder(withPools("one", 2));
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final FairgateMeters meters = new FairgateMeters(policy, registry, 100, time);
    private final Weights instances = new Weights();
    private final PermitPools pools = new PermitPools(
            policy.current(),
            (name, settings, shares, listener) -> new EmbeddedPermitPool(name, settings, shares, time, listener),
            time,
            meters,
            instances);

    /** The weights of the instances that are in use, by upstream. */
    private static final class Weights extends HashMap<String, Integer> implements PoolsPerInstance {

        private static final long serialVersionUID = 1L;

        private transient Consumer<String> listener = upstream -> {};

        @Override
        public long size(String upstream, String pool, int permits) {
            return (long) permits * getOrDefault(upstream, 1);
        }

        @Override
        public void whenChanged(Consumer<String> changed) {
            listener = changed;
        }

        void change(String upstream, int weight) {
            put(upstream, weight);
            listener.accept(upstream);
        }
    }

    PermitPoolsTest() {
        policy.add(pools);
        policy.add(meters);
    }

    private static Policy withPools(Object... namesAndPermits) {
        Map<String, PoolSettings> settings = new LinkedHashMap<>();
        for (int i = 0; i < namesAndPermits.length; i += 2) {
            settings.put(
                    (String) namesAndPermits[i],
                    new PoolSettings(
                            (int) namesAndPermits[i + 1], 100, Duration.ofSeconds(100), Duration.ofSeconds(1000)));
        }
        return new Policy(
                List.of(new IdentitySource.Header("X-Tenant-Id", List.of(Cidr.parse("127.0.0.1")))),
                Map.of(ACME, new TenantPolicy(ACME, "plan", ShareSettings.EQUAL, List.of())),
                null,
                settings);
    }

    private PermitPool pool(String name) {
        return Objects.requireNonNull(pools.get(name));
    }

    private HeldPermits take(String name) {
        return Objects.requireNonNull(pool(name).tryAcquire(PermitRequest.of(ACME)));
    }

    private void pass(Duration duration) {
        time.advanceBy(duration);
    }

    @Test
    void a_removed_pool_is_closed_when_it_is_empty() {
        HeldPermits held = take("one");
        PermitPool one = pool("one");
        policy.replace(withPools("two", 5));
        assertThat(pools.all()).extracting(PermitPool::name).containsExactly("one", "two");

        pass(LONG);
        assertThat(pools.get("one")).isSameAs(one);
        held.release();
        pass(LONG);

        assertThat(pools.get("one")).isNull();
        assertThat(one.tryAcquire(PermitRequest.of(ACME))).isNull();
        assertThat(time.timersLeft()).isZero();
    }

    @Test
    void a_closed_pool_is_not_shown() {
        HeldPermits held = take("one");
        policy.replace(withPools("two", 5));
        held.release();
        assertThat(registry.find(Meter.HOLD.id()).tag("pool", "one").timers()).hasSize(1);
        assertThat(meters.endedPermitSeconds()).hasSize(1);

        pass(LONG);

        assertThat(registry.getMeters())
                .allSatisfy(meter -> assertThat(meter.getId().getTag("pool")).isNull());
        assertThat(meters.endedPermitSeconds()).isEmpty();
        take("two").release();
        assertThat(registry.find(Meter.HOLD.id()).timers()).hasSize(1);
    }

    @Test
    void a_removed_pool_is_kept_for_requests_that_will_use_it() {
        policy.replace(withPools("two", 5));
        pass(Duration.ofSeconds(9));
        take("one").release();
        policy.replace(withPools("one", 2));
        policy.replace(withPools("two", 5));
        pass(Duration.ofSeconds(9));
        take("one").release();
    }

    @Test
    void a_pool_that_is_named_again_continues() {
        PermitPool one = pool("one");
        HeldPermits held = take("one");
        policy.replace(withPools("two", 5));
        policy.replace(withPools("one", 1));

        assertThat(pools.get("one")).isSameAs(one);
        assertThat(one.tryAcquire(PermitRequest.of(ACME))).isNull();
        held.release();
        pass(LONG);
        assertThat(pools.get("one")).isSameAs(one);
        take("one").release();
    }

    @Test
    void pools_made_for_a_refused_policy_are_closed() {
        assertThatThrownBy(() -> policy.replace(withPools("one", 7, "two", 5), () -> {
                    assertThat(pools.get("two")).isNotNull();
                    assertThat(pools.policyForRoutes().pools().get("two")).isNotNull();
                    assertThat(pools.policyForRoutes().pools().keySet()).containsExactly("one", "two");
                    assertThat(NothingLeft.statusOf(pool("one")).permits()).isEqualTo(2);
                    throw new IllegalStateException("routes that cannot be built");
                }))
                .hasMessage("routes that cannot be built");

        assertThat(pools.policyForRoutes().pools().keySet()).containsExactly("one");
        assertThat(NothingLeft.statusOf(pool("one")).permits()).isEqualTo(2);
        assertThat(policy.current().pools()).containsOnlyKeys("one");
        pass(LONG);
        assertThat(pools.get("two")).isNull();
        take("one").release();
    }

    @Test
    void held_permits_count_after_a_reduction() {
        HeldPermits first = take("one");
        HeldPermits second = take("one");
        policy.replace(withPools("one", 1));
        assertThat(NothingLeft.statusOf(pool("one")).inFlight()).isEqualTo(2);

        first.release();
        assertThat(pool("one").tryAcquire(PermitRequest.of(ACME))).isNull();
        second.release();
        take("one").release();
    }

    private PermitPools behind(Network network) {
        return new PermitPools(
                policy.current(),
                (name, settings, shares, listener) ->
                        new OddPool(new EmbeddedPermitPool(name, settings, shares, time, listener), network),
                time,
                meters,
                PoolsPerInstance.NONE);
    }

    private static void change(PermitPools pools, Policy next) {
        pools.prepare(next);
        pools.commit(next);
    }

    @Test
    void a_pool_that_cannot_be_reached_is_kept_until_it_says_that_it_is_empty() {
        Network network = new Network(time, Duration.ofMillis(1));
        PermitPools remote = behind(network);
        change(remote, withPools("two", 5));
        network.lose();
        pass(LONG);
        pass(LONG);
        assertThat(remote.get("one")).isNotNull();

        network.regain();
        pass(LONG);
        assertThat(remote.get("one")).isNull();
    }

    @Test
    void a_change_reaches_a_pool_that_could_not_be_reached_later() {
        Network network = new Network(time, Duration.ofMillis(1));
        PermitPools remote = behind(network);
        network.lose();
        change(remote, withPools("one", 7));
        pass(LONG);
        assertThat(permits(remote)).isEqualTo(2);

        network.regain();
        pass(Duration.ofMillis(1));
        assertThat(permits(remote)).isEqualTo(7);
    }

    private static int permits(PermitPools pools) {
        return Objects.requireNonNull(pools.get("one")).settings().permits();
    }

    @Test
    void closing_does_not_wait_for_a_pool_that_cannot_be_reached() {
        Network network = new Network(time, Duration.ofMillis(1));
        PermitPools remote = behind(network);
        network.lose();
        List<PoolTotals> totals = new ArrayList<>();
        List<String> closed = new ArrayList<>();
        remote.totals().subscribe(totals::add);
        remote.close(Duration.ofSeconds(100)).subscribe(nothing -> {}, e -> {}, () -> closed.add("all"));
        pass(Duration.ofMillis(2));
        assertThat(totals).containsExactly(new PoolTotals(0, 0, 0));
        assertThat(closed).containsExactly("all");
    }

    private static Policy perInstance(int permits, String upstream) {
        Policy pools = withPools("one", permits, "two", permits);
        Instance instance = new Instance(URI.create("http://127.0.0.1:1"), 1);
        return new Policy(
                pools.identification(),
                pools.members(),
                pools.unknown(),
                pools.pools(),
                Map.of(),
                Map.of(),
                QuotaTerms.NONE,
                Enforcement.FULL,
                Set.of(),
                Map.of("orders", Upstream.of(List.of(instance)), "others", Upstream.of(List.of(instance))),
                Map.of("one", upstream));
    }

    @Test
    void a_pool_per_instance_has_permits_for_each_that_is_in_use() {
        instances.put("orders", 3);
        policy.replace(perInstance(2, "orders"));
        assertThat(pool("one").settings().permits()).isEqualTo(6);
        assertThat(pool("two").settings().permits()).isEqualTo(2);

        instances.change("orders", 1);
        assertThat(pool("one").settings().permits()).isEqualTo(2);
        instances.change("others", 7);
        assertThat(pool("one").settings().permits()).isEqualTo(2);

        policy.replace(perInstance(5, "others"));
        assertThat(pool("one").settings().permits()).isEqualTo(35);
        instances.change("others", 1_000_000);
        assertThat(pool("one").settings().permits()).as("the largest pool").isEqualTo(PoolSettings.MAX_PERMITS);
        policy.replace(withPools("one", 4));
        assertThat(pool("one").settings().permits()).isEqualTo(4);
        instances.change("others", 2);
        assertThat(pool("one").settings().permits()).isEqualTo(4);
    }

    @Test
    void a_pool_that_has_become_smaller_grants_nothing_until_it_fits() {
        instances.put("orders", 2);
        policy.replace(perInstance(1, "orders"));
        HeldPermits first = take("one");
        HeldPermits second = take("one");
        instances.change("orders", 1);
        first.release();
        assertThat(pool("one").tryAcquire(PermitRequest.of(ACME))).isNull();
        second.release();
        take("one").release();
    }
}
