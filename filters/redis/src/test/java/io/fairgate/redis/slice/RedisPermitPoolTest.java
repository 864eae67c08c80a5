package io.fairgate.redis.slice;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.permit.HeldPermits;
import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.PoolListener;
import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.PoolUnavailableException;
import io.fairgate.shares.ShareSettings;
import io.fairgate.shares.TenantShares;
import io.fairgate.tenant.TenantId;
import io.fairgate.testkit.TestTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import reactor.test.subscriber.TestSubscriber;

/** What a pool that is shared does beyond the contract of pools: its beginning, its end, and what it reserves. */
class RedisPermitPoolTest {

    private static final int PERMITS = 4;
    private static final SliceTerm TERM = SliceTerm.USUAL;
    private static final Duration SOON = Duration.ofMillis(20);
    private static final TenantId A = TenantId.of("a");

    private final TestTime time = new TestTime();
    private final NearLedger ledger = new NearLedger(time, Duration.ofNanos(1_000));
    private int names;

    private RedisPermitPool pool(TenantShares shares) {
        return new RedisPermitPool(
                "test",
                PoolSettings.ofPermits(PERMITS).withMaxWait(Duration.ofHours(1)),
                shares,
                PoolListener.NONE,
                ledger,
                TERM,
                OutagePolicy.FAIL_CLOSED,
                () -> "node-" + names++,
                time,
                time);
    }

    /** With a ledger that is not new any more. */
    private RedisPermitPool begun(TenantShares shares) {
        RedisPermitPool pool = pool(shares);
        time.advanceBy(TERM.ttl().multipliedBy(2));
        return pool;
    }

    private TestSubscriber<HeldPermits> ask(RedisPermitPool pool, String tenant) {
        TestSubscriber<HeldPermits> asked = TestSubscriber.create();
        pool.acquire(PermitRequest.of(tenant).withEventLoop(Runnable::run)).subscribe(asked);
        time.advanceBy(SOON);
        return asked;
    }

    private static boolean isGranted(TestSubscriber<HeldPermits> asked) {
        return !asked.getReceivedOnNext().isEmpty();
    }

    @Test
    void without_a_first_answer_requests_wait_for_as_long_as_a_term_grants() {
        ledger.isLost = true;
        RedisPermitPool pool = pool(TenantShares.EQUAL);
        TestSubscriber<HeldPermits> waiting = ask(pool, "a");
        time.advanceBy(Duration.ofNanos(TERM.grantNanos()).minus(SOON).minusMillis(1));
        assertThat(waiting.isTerminated()).isFalse();
        time.advanceBy(Duration.ofMillis(1));
        assertThat(waiting.expectTerminalError()).isInstanceOf(PoolUnavailableException.class);
        assertThat(pool.slice().isInForce()).isFalse();
        assertThat(pool.slice().failure()).isEqualTo("IOException: connection reset");
        ledger.isLost = false;
        time.advanceBy(TERM.ttl().multipliedBy(2));
        assertThat(isGranted(ask(pool, "a"))).isTrue();
        assertThat(pool.slice().failure()).isNull();
    }

    @Test
    void a_closed_pool_gives_its_slice_back_when_its_last_permit_is_back() {
        RedisPermitPool pool = begun(TenantShares.EQUAL);
        HeldPermits held = ask(pool, "a").getReceivedOnNext().get(0);
        TestSubscriber<Void> closed = TestSubscriber.create();
        pool.close(Duration.ZERO).subscribe(closed);
        time.advanceBy(Duration.ofSeconds(10));
        assertThat(ledger.state.used()).as("while it is in use").isPositive();
        held.release();
        time.advanceBy(SOON);
        assertThat(closed.isTerminatedComplete()).isTrue();
        assertThat(ledger.state.used()).isZero();
        long version = ledger.state.version;
        time.advanceBy(Duration.ofSeconds(10));
        assertThat(ledger.state.version).as("no more heartbeats").isEqualTo(version);
        assertThat(ledger.listeners()).isZero();
    }

    @Test
    void a_pool_whose_close_was_cancelled_gives_its_slice_back() {
        RedisPermitPool pool = begun(TenantShares.EQUAL);
        HeldPermits held = ask(pool, "a").getReceivedOnNext().get(0);
        pool.close(Duration.ZERO).subscribe().dispose();
        held.release();
        time.advanceBy(SOON);
        assertThat(ledger.state.used()).isZero();
        TestSubscriber<Void> again = TestSubscriber.create();
        pool.close(Duration.ZERO).subscribe(again);
        time.advanceBy(SOON);
        assertThat(again.isTerminatedComplete()).isTrue();
    }

    @Test
    void what_a_tenant_reserves_stays_free_for_it() {
        RedisPermitPool pool = begun(TenantShares.EQUAL.withMember(A, ShareSettings.EQUAL.withGuaranteed(1, 1)));
        List<TestSubscriber<HeldPermits>> others = new ArrayList<>();
        for (int i = 0; i < PERMITS; i++) {
            others.add(ask(pool, "b"));
        }
        assertThat(others.stream().filter(RedisPermitPoolTest::isGranted)).hasSize(PERMITS - 1);
        assertThat(ledger.state.used()).as("for any gateway").isEqualTo(PERMITS - 1);
        assertThat(isGranted(ask(pool, "a"))).isTrue();
        assertThat(ledger.state.used()).isEqualTo(PERMITS);
    }

    @Test
    void more_permits_than_can_be_told_do_not_end_the_heartbeats() {
        int most = PoolSettings.MAX_PERMITS;
        PoolSettings settings =
                PoolSettings.ofPermits(most).withMaxWaiting(2_000).withMaxWait(Duration.ofHours(1));
        RedisPermitPool pool = new RedisPermitPool(
                "test",
                settings,
                TenantShares.EQUAL,
                PoolListener.NONE,
                ledger,
                TERM,
                OutagePolicy.FAIL_CLOSED,
                () -> "node",
                time,
                time);
        time.advanceBy(TERM.ttl().multipliedBy(2));
        List<Throwable> errors = new ArrayList<>();
        for (int i = 0; i < 1_200; i++) {
            pool.acquire(PermitRequest.of("a").withPermits(most)).subscribe(held -> {}, errors::add);
        }
        time.advanceBy(TERM.ttl());
        assertThat(errors).isEmpty();
        assertThat(pool.slice().isInForce()).isTrue();
        assertThat(pool.slice().failure()).isNull();
        assertThat(ledger.state.used()).isEqualTo(most);
    }

    @Test
    void a_smaller_pool_gives_back_and_a_larger_one_gets_more() {
        RedisPermitPool pool = begun(TenantShares.EQUAL);
        assertThat(ledger.state.used()).isEqualTo(PERMITS);
        pool.reconfigure(PoolSettings.ofPermits(1), TenantShares.EQUAL).subscribe();
        time.advanceBy(SOON);
        assertThat(ledger.state.used()).isOne();
        assertThat(isGranted(ask(pool, "a"))).isTrue();
        assertThat(isGranted(ask(pool, "b"))).isFalse();
        pool.reconfigure(PoolSettings.ofPermits(9), TenantShares.EQUAL).subscribe();
        time.advanceBy(SOON);
        assertThat(ledger.state.used()).isEqualTo(9);
        assertThat(pool.slice().permits()).isEqualTo(9);
    }
}
