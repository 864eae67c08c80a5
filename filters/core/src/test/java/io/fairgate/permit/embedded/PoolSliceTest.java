package io.fairgate.permit.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.fairness.AskedPermits;
import io.fairgate.permit.HeldPermits;
import io.fairgate.permit.PermitRefusedException;
import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.PoolListener;
import io.fairgate.permit.PoolRequest;
import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.PoolUnavailableException;
import io.fairgate.shares.ShareSettings;
import io.fairgate.shares.TenantShares;
import io.fairgate.tenant.TenantId;
import io.fairgate.testkit.NothingLeft;
import io.fairgate.testkit.TestTime;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Mono;
import reactor.test.subscriber.TestSubscriber;

/** A pool that shares its permits with other processes grants what this process may grant, and tells when that is too little. */
class PoolSliceTest {

    private static final int PERMITS = 10;
    private static final TenantId A = TenantId.of("a");
    private static final TenantId B = TenantId.of("b");

    @RegisterExtension
    final NothingLeft nothingLeft = new NothingLeft();

    private final TestTime time = new TestTime();
    private final AtomicInteger changes = new AtomicInteger();
    private final AtomicInteger lost = new AtomicInteger();
    private @Nullable EmbeddedPermitPool pool;
    private @Nullable PoolSlice slice;

    private void start(TenantShares shares) {
        start(shares, PoolSettings.ofPermits(PERMITS));
    }

    private void start(TenantShares shares, PoolSettings settings) {
        time.advanceBy(Duration.ofMinutes(1)); // The pool's own clock has another zero.
        nothingLeft.watch(time);
        PoolListener listener = new PoolListener() {
            @Override
            public void lost(PoolRequest request, long waitedNanos) {
                lost.incrementAndGet();
            }
        };
        pool = nothingLeft.watch(new EmbeddedPermitPool("test", settings, shares, time, listener));
        slice = pool.share(changes::incrementAndGet);
    }

    private EmbeddedPermitPool pool() {
        return Objects.requireNonNull(pool);
    }

    private PoolSlice slice() {
        return Objects.requireNonNull(slice);
    }

    private int limit(int most) {
        return Objects.requireNonNull(slice().limit(most, 0).block());
    }

    private void endIn(Duration delay) {
        slice().endsAt(time.now(TimeUnit.NANOSECONDS) + delay.toNanos());
    }

    private static PermitRequest request(String tenant) {
        return PermitRequest.of(tenant).withEventLoop(Runnable::run);
    }

    private TestSubscriber<HeldPermits> ask(PermitRequest request) {
        TestSubscriber<HeldPermits> subscriber = TestSubscriber.create();
        pool().acquire(request).subscribe(subscriber);
        return subscriber;
    }

    private TestSubscriber<HeldPermits> ask(String tenant) {
        return ask(request(tenant));
    }

    private static boolean isGranted(TestSubscriber<?> asked) {
        return !asked.getReceivedOnNext().isEmpty();
    }

    private static HeldPermits held(TestSubscriber<HeldPermits> asked) {
        assertThat(asked.getReceivedOnNext()).as("granted").hasSize(1);
        return asked.getReceivedOnNext().get(0);
    }

    private HeldPermits hold(String tenant) {
        return held(ask(tenant));
    }

    private static void assertLost(TestSubscriber<?> asked) {
        assertThat(asked.expectTerminalError())
                .isInstanceOf(PoolUnavailableException.class)
                .hasMessage("pool test: its backend cannot be reached");
    }

    private Map<TenantId, Double> asked() {
        return askedPermits().permits();
    }

    private AskedPermits askedPermits() {
        return Objects.requireNonNull(slice().asked().block());
    }

    // ---- the bound ----

    @Test
    void nothing_is_granted_before_the_slice_is_known_and_then_as_many_permits_as_it_has() {
        start(TenantShares.EQUAL);
        TestSubscriber<HeldPermits> first = ask("a");
        TestSubscriber<HeldPermits> second = ask("a");
        TestSubscriber<HeldPermits> third = ask("a");
        assertThat(isGranted(first)).isFalse();
        assertThat(limit(2)).isZero();
        assertThat(isGranted(third)).isFalse();
        held(first).release();
        held(second).release();
        held(third).release();
    }

    @Test
    void after_a_shrink_nothing_is_granted_until_permits_are_back_also_on_the_fast_path() {
        start(TenantShares.EQUAL);
        limit(3);
        HeldPermits first = hold("a");
        HeldPermits second = hold("a");
        HeldPermits third = hold("a");
        assertThat(limit(1)).as("in flight").isEqualTo(3);
        assertThat(pool().tryAcquire(request("b"))).isNull();
        first.release();
        second.release();
        assertThat(pool().tryAcquire(request("b"))).isNull();
        TestSubscriber<HeldPermits> waiting = ask("b");
        third.release();
        held(waiting).release();
        assertThat(limit(0)).isZero();
        assertThat(pool().tryAcquire(request("b"))).isNull();
    }

    @Test
    void a_shrink_takes_free_permits_from_the_fast_path_and_a_growth_adds_some() {
        start(TenantShares.EQUAL);
        limit(3);
        HeldPermits held = hold("a");
        assertThat(pool().hasOpenPermit(A)).isTrue();
        assertThat(limit(1)).isOne();
        assertThat(pool().hasOpenPermit(A)).isFalse();
        limit(2);
        assertThat(pool().hasOpenPermit(A)).isTrue();
        held.release();
    }

    @Test
    void the_size_of_the_pool_says_what_can_ever_be_granted() {
        start(TenantShares.EQUAL);
        limit(2);
        assertThat(pool().couldGrant(A, PERMITS).block()).isTrue();
        TestSubscriber<HeldPermits> large = ask(request("a").withPermits(5));
        assertThat(large.isTerminated()).isFalse();
        limit(5);
        held(large).release();
    }

    @Test
    void a_negative_bound_is_refused_and_changes_nothing() {
        start(TenantShares.EQUAL);
        limit(1);
        TestSubscriber<Integer> refused = TestSubscriber.create();
        slice().limit(-1, 0).subscribe(refused);
        assertThat(refused.expectTerminalError()).hasMessage("limit: -1 (expected: >= 0)");
        hold("a").release();
    }

    @Test
    void weights_count_for_their_parts() {
        start(TenantShares.EQUAL);
        limit(2);
        HeldPermits ofA = hold("a");
        HeldPermits ofB = hold("b");
        TestSubscriber<HeldPermits> nextOfA = ask("a");
        TestSubscriber<HeldPermits> nextOfB = ask("b");
        slice().weigh(Map.of(A, 0.01), Map.of()).block();
        time.advanceBy(Duration.ofMillis(100));
        ofA.release();
        assertThat(isGranted(nextOfA)).as("the next with equal weights").isFalse();
        held(nextOfB).release();
        held(nextOfA).release();
        ofB.release();
    }

    // ---- the end ----

    @Test
    void requests_that_wait_error_when_the_slice_ends_and_new_ones_at_once() {
        start(TenantShares.EQUAL);
        limit(1);
        endIn(Duration.ofMillis(100));
        HeldPermits held = held(ask(request("a").withMaxHold(PoolSettings.MAX_DURATION)));
        TestSubscriber<HeldPermits> waiting = ask("a");
        time.advanceBy(Duration.ofMillis(99));
        assertThat(waiting.isTerminated()).isFalse();
        time.advanceBy(Duration.ofMillis(1));
        assertLost(waiting);
        assertThat(time.timersLeft()).as("timers of requests that are over").isZero();
        assertThat(held.isHeld()).isTrue();
        held.release();
        assertLost(ask("a"));
        TestSubscriber<HeldPermits> restored = TestSubscriber.create();
        pool().restore(request("a")).subscribe(restored);
        assertLost(restored);
        assertThat(lost).hasValue(3);
        assertThat(NothingLeft.statusOf(pool()).waiting()).isZero();
    }

    @Test
    void what_was_not_restored_because_the_slice_had_ended_can_be_restored_later() {
        start(TenantShares.EQUAL);
        endIn(Duration.ZERO);
        PermitRequest all = request("a").withPermits(PERMITS);
        TestSubscriber<HeldPermits> lost = TestSubscriber.create();
        pool().restore(all).subscribe(lost);
        assertLost(lost);
        endIn(Duration.ofSeconds(1));
        TestSubscriber<HeldPermits> restored = TestSubscriber.create();
        pool().restore(all).subscribe(restored);
        held(restored).release();
    }

    @Test
    void the_fast_path_grants_nothing_after_the_end_although_nothing_has_told_the_pool() {
        start(TenantShares.EQUAL);
        limit(5);
        endIn(Duration.ofMillis(100));
        time.advanceBy(Duration.ofMillis(99));
        assertThat(pool().hasOpenPermit(A)).isTrue();
        hold("a").release();
        time.advanceBy(Duration.ofMillis(1));
        assertThat(pool().hasOpenPermit(A)).isFalse();
        assertThat(pool().tryAcquire(request("a"))).isNull();
        assertLost(ask("a"));
    }

    @Test
    void a_slice_that_ends_later_serves_on() {
        start(TenantShares.EQUAL);
        limit(1);
        endIn(Duration.ofMillis(100));
        HeldPermits held = hold("a");
        TestSubscriber<HeldPermits> waiting = ask("a");
        endIn(Duration.ofMillis(200));
        time.advanceBy(Duration.ofMillis(150));
        held.release();
        held(waiting).release();
        time.advanceBy(Duration.ofMillis(50));
        assertLost(ask("a"));
        endIn(Duration.ofMillis(100));
        hold("a").release();
    }

    @Test
    void a_slice_that_ends_earlier_ends_what_waits_then() {
        start(TenantShares.EQUAL);
        limit(1);
        endIn(Duration.ofSeconds(100));
        HeldPermits held = hold("a");
        TestSubscriber<HeldPermits> waiting = ask("a");
        endIn(Duration.ofMillis(100));
        assertThat(waiting.isTerminated()).isFalse();
        time.advanceBy(Duration.ofMillis(100));
        assertLost(waiting);
        TestSubscriber<HeldPermits> next = ask("a");
        assertLost(next);
        held.release();
    }

    @Test
    void a_request_that_was_granted_and_has_not_begun_at_the_end_does_not_begin() {
        start(TenantShares.EQUAL);
        limit(1);
        endIn(Duration.ofMillis(100));
        AtomicInteger begun = new AtomicInteger();
        Mono<Void> work = Mono.fromRunnable(begun::incrementAndGet);
        for (boolean waits : new boolean[] {false, true}) {
            endIn(Duration.ofMillis(100));
            Queue<Runnable> loop = new ArrayDeque<>();
            HeldPermits before = waits ? hold("b") : null;
            TestSubscriber<Void> granted = TestSubscriber.create();
            pool().withPermit(PermitRequest.of("a").withEventLoop(loop::add), work)
                    .subscribe(granted);
            if (before != null) {
                before.release();
            }
            assertThat(loop).hasSize(1);
            time.advanceBy(Duration.ofMillis(100));
            loop.remove().run();
            assertLost(granted);
            assertThat(begun).hasValue(0);
            assertThat(pool().inFlight().block()).isZero();
        }
    }

    @Test
    void a_handle_that_was_not_handed_over_before_the_end_is_not_handed_over() {
        start(TenantShares.EQUAL);
        limit(1);
        endIn(Duration.ofMillis(100));
        TestSubscriber<HeldPermits> slow =
                TestSubscriber.builder().initialRequest(0).build();
        pool().acquire(request("a")).subscribe(slow);
        time.advanceBy(Duration.ofMillis(100));
        slow.request(1);
        assertLost(slow);
        assertThat(slow.getReceivedOnNext()).isEmpty();
        assertThat(pool().inFlight().block()).isZero();
    }

    @Test
    void permits_that_were_restored_before_the_end_are_handed_over_later() {
        start(TenantShares.EQUAL);
        endIn(Duration.ofMillis(100));
        Queue<Runnable> loop = new ArrayDeque<>();
        TestSubscriber<HeldPermits> restored =
                TestSubscriber.builder().initialRequest(0).build();
        pool().restore(PermitRequest.of("a").withEventLoop(loop::add)).subscribe(restored);
        time.advanceBy(Duration.ofMillis(100));
        loop.remove().run();
        restored.request(1);
        loop.remove().run();
        held(restored).release();
    }

    /** The time when a request was asked is a little earlier than that of the decision. */
    @Test
    void permits_that_are_taken_at_once_are_not_taken_after_the_end() {
        start(TenantShares.EQUAL);
        limit(1);
        endIn(Duration.ofMillis(100));
        time.advanceBy(Duration.ofMillis(99));
        Waiter waiter = new Waiter(pool(), Acquisition.IMMEDIATE, request("a"), pool().now());
        time.advanceBy(Duration.ofMillis(1));
        assertThat(waiter.takeAtOnce()).isFalse();
    }

    @Test
    void a_slice_can_be_without_an_end_again() {
        start(TenantShares.EQUAL);
        limit(1);
        endIn(Duration.ZERO);
        assertLost(ask("a"));
        slice().endsAt(Long.MAX_VALUE);
        assertThat(pool().slice.isUnending()).isTrue();
        time.advanceBy(Duration.ofDays(1));
        hold("a").release();
    }

    @Test
    void a_closed_pool_says_that_it_is_closed() {
        start(TenantShares.EQUAL);
        endIn(Duration.ZERO);
        pool().close(Duration.ZERO).subscribe();
        assertThat(ask("a").expectTerminalError()).hasMessageContaining("draining");
    }

    // ---- when the pool calls its listener ----

    @Test
    void it_tells_when_requests_begin_to_wait() {
        start(TenantShares.EQUAL);
        limit(2);
        HeldPermits first = hold("a");
        HeldPermits second = hold("a");
        assertThat(changes).hasValue(0);
        TestSubscriber<HeldPermits> third = ask("a");
        assertThat(changes).hasValue(1);
        TestSubscriber<HeldPermits> fourth = ask("a");
        assertThat(changes).hasValue(1);
        first.release();
        second.release();
        held(third).release();
        HeldPermits last = held(fourth);
        assertThat(changes).hasValue(1);
        HeldPermits other = hold("a");
        TestSubscriber<HeldPermits> again = ask("b");
        assertThat(changes).hasValue(2);
        last.release();
        other.release();
        held(again).release();
    }

    @Test
    void requests_that_wait_for_their_own_cap_only_are_not_told() {
        start(TenantShares.EQUAL.withMember(A, ShareSettings.EQUAL.withMaxInFlight(1)));
        limit(2);
        HeldPermits ofA = hold("a");
        TestSubscriber<HeldPermits> nextOfA = ask("a");
        HeldPermits ofB = hold("b");
        assertThat(changes).hasValue(0);
        TestSubscriber<HeldPermits> nextOfB = ask("b");
        assertThat(changes).hasValue(1);
        ofB.release();
        held(nextOfB).release();
        ofA.release();
        held(nextOfA).release();
    }

    @Test
    void it_tells_when_permits_beyond_the_slice_come_back() {
        start(TenantShares.EQUAL);
        limit(3);
        HeldPermits first = hold("a");
        HeldPermits second = hold("a");
        HeldPermits third = hold("a");
        limit(1);
        assertThat(changes).hasValue(0);
        first.release();
        assertThat(changes).hasValue(1);
        limit(2);
        assertThat(changes).hasValue(1);
        limit(1);
        second.release();
        assertThat(changes).hasValue(2);
        third.release();
        assertThat(changes).hasValue(2);
    }

    @Test
    void a_listener_that_throws_costs_nothing() {
        EmbeddedPermitPool other =
                nothingLeft.watch(new EmbeddedPermitPool("other", PoolSettings.ofPermits(1), TenantShares.EQUAL));
        PoolSlice part = other.share(() -> {
            changes.incrementAndGet();
            throw new IllegalStateException("a fault of the listener");
        });
        part.limit(1, 0).block();
        HeldPermits held = Objects.requireNonNull(other.tryAcquire(request("a")));
        TestSubscriber<HeldPermits> waiting = TestSubscriber.create();
        other.acquire(request("a")).subscribe(waiting);
        assertThat(changes).hasValue(1);
        held.release();
        held(waiting).release();
    }

    // ---- what is asked for ----

    @Test
    void it_adds_what_each_tenant_holds_and_waits_for() {
        start(TenantShares.EQUAL);
        limit(3);
        HeldPermits first = hold("a");
        HeldPermits another = hold("a");
        HeldPermits second = hold("b");
        assertThat(asked()).as("on the fast path").isEqualTo(Map.of(A, 2.0, B, 1.0));
        TestSubscriber<HeldPermits> waiting = ask(request("b").withPermits(4));
        assertThat(asked()).isEqualTo(Map.of(A, 2.0, B, 5.0));
        time.advanceBy(Duration.ofMillis(100));
        first.release();
        another.release();
        assertThat(asked()).isEqualTo(Map.of(B, 5.0));
        waiting.cancel();
        assertThat(asked()).isEqualTo(Map.of(B, 1.0));
        second.release();
        assertThat(asked()).isEmpty();
    }

    @Test
    void caps_bound_what_is_asked_for() {
        start(TenantShares.EQUAL
                .withMember(A, ShareSettings.EQUAL.withMaxInFlight(3))
                .withClass("batch", ShareSettings.EQUAL.withMaxInFlight(2)));
        limit(0);
        for (int i = 0; i < 4; i++) {
            ask("a");
            ask(request("b").withClass("batch"));
        }
        ask("b");
        assertThat(asked()).isEqualTo(Map.of(A, 3.0, B, 3.0));
        time.advanceBy(PoolSettings.DEFAULT_MAX_WAIT.plusMillis(1));
    }

    // ---- requests that may not wait ----

    @Test
    void a_request_that_is_refused_without_waiting_is_told_once() {
        start(TenantShares.EQUAL, PoolSettings.ofPermits(PERMITS).withMaxWaiting(0));
        endIn(Duration.ofHours(1));
        assertThat(ask(request("a").withPermits(2)).expectTerminalError()).isInstanceOf(PermitRefusedException.class);
        assertThat(changes).hasValue(1);
        ask("a");
        ask("b");
        assertThat(changes).as("known already").hasValue(1);
        assertThat(asked()).containsOnly(Map.entry(A, 2.0), Map.entry(B, 1.0));
        time.advanceBy(Duration.ofSeconds(1));
        ask("b");
        assertThat(changes).as("known still").hasValue(1);
        time.advanceBy(Duration.ofSeconds(1));
        assertThat(asked()).containsOnly(Map.entry(B, 1.0));
        time.advanceBy(Duration.ofSeconds(1));
        assertThat(asked()).isEmpty();
        limit(2);
        HeldPermits held = held(ask(request("a").withPermits(2)));
        assertThat(changes).hasValue(1);
        ask("a");
        assertThat(changes).hasValue(2);
        assertThat(asked()).containsOnly(Map.entry(A, 3.0));
        held.release();
    }

    @Test
    void a_request_that_is_refused_because_its_tenant_may_not_wait_is_told() {
        start(TenantShares.EQUAL.withMember(A, ShareSettings.EQUAL.withMaxWaiting(0)));
        endIn(Duration.ofHours(1));
        ask("a");
        assertThat(asked()).containsOnly(Map.entry(A, 1.0));
    }

    @Test
    void a_refused_request_counts_as_the_largest_until_its_tenant_has_been_granted_as_much() {
        start(TenantShares.EQUAL);
        limit(3);
        endIn(Duration.ofHours(1));
        assertThat(pool().tryAcquire(request("a").withPermits(5))).isNull();
        assertThat(askedPermits()).isEqualTo(new AskedPermits(Map.of(A, 5.0), Map.of(A, 5.0), 5));
        HeldPermits small = hold("a");
        assertThat(askedPermits().largest()).isEqualTo(5);
        limit(6);
        assertThat(askedPermits()).as("within the bound").isEqualTo(new AskedPermits(Map.of(A, 6.0), Map.of(), 5));
        TestSubscriber<HeldPermits> large = ask(request("a").withPermits(5));
        assertThat(askedPermits()).isEqualTo(new AskedPermits(Map.of(A, 11.0), Map.of(), 0));
        held(large).release();
        small.release();
    }

    @Test
    void of_very_many_tenants_with_refused_requests_some_are_told() {
        start(TenantShares.EQUAL, PoolSettings.ofPermits(PERMITS).withMaxWaiting(0));
        endIn(Duration.ofHours(1));
        for (int i = 0; i < 1_500; i++) {
            ask("t" + i);
        }
        assertThat(asked()).hasSize(1_000);
    }

    @Test
    void permits_that_cannot_be_taken_at_once_are_told() {
        start(TenantShares.EQUAL);
        endIn(Duration.ofHours(1));
        assertThat(pool().tryAcquire(request("a"))).isNull();
        assertThat(changes).hasValue(1);
        assertThat(asked()).containsOnly(Map.entry(A, 1.0));
    }

    @Test
    void a_refusal_because_of_the_own_cap_is_not_told() {
        start(TenantShares.EQUAL.withMember(A, ShareSettings.EQUAL.withMaxInFlight(1)));
        limit(PERMITS);
        endIn(Duration.ofHours(1));
        HeldPermits held = hold("a");
        assertThat(pool().tryAcquire(request("a"))).isNull();
        assertThat(changes).hasValue(0);
        assertThat(asked()).containsOnly(Map.entry(A, 1.0));
        held.release();
    }
}
