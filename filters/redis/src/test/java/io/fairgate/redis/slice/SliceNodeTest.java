package io.fairgate.redis.slice;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.PoolListener;
import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.embedded.EmbeddedPermitPool;
import io.fairgate.redis.division.LargeDemand;
import io.fairgate.redis.division.NodeDemand;
import io.fairgate.shares.TenantShares;
import io.fairgate.status.SliceStatus;
import io.fairgate.tenant.TenantId;
import io.fairgate.testkit.TestTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/** When a node sends heartbeats, and what it says in them. */
class SliceNodeTest {

    private static final int PERMITS = 10;
    private static final int OF_OTHER_NODE = 4;
    private static final SliceTerm TERM = SliceTerm.USUAL;
    private static final Duration SOON = Duration.ofMillis(1);

    private record Sent(long atMillis, Heartbeat beat, MonoSink<SliceAnswer> sink) {}

    private final TestTime time = new TestTime();
    private final SliceKernel kernel = new SliceKernel(TERM, 700, Set.of());
    private LedgerState ledger = new LedgerState();
    private final List<Sent> sent = new ArrayList<>();
    private final List<Runnable> wakeUps = new ArrayList<>();
    private final List<Runnable> calls = new ArrayList<>();
    private int called;
    private boolean isBroken;
    private int limitOfOtherNode = PERMITS;
    private double owedToOthers;
    /** How many permits each other node wants. */
    private final Map<String, Integer> otherNodes = new TreeMap<>(Map.of("other", OF_OTHER_NODE));

    private final AtomicInteger names = new AtomicInteger();
    private final AtomicInteger unavailable = new AtomicInteger();
    private boolean haveNamesFailed;
    private EmbeddedPermitPool pool = newPool();
    private SliceNode node = node(OutagePolicy.FAIL_CLOSED);

    private EmbeddedPermitPool newPool() {
        return new EmbeddedPermitPool(
                "pool", PoolSettings.ofPermits(PERMITS), TenantShares.EQUAL, time, PoolListener.NONE);
    }

    private SliceNode node(OutagePolicy outages) {
        SliceLedger network = new LedgerWithoutLeases() {
            @Override
            public Mono<SliceAnswer> heartbeat(Heartbeat beat) {
                if (isBroken) {
                    throw new IllegalStateException("a fault of the ledger");
                }
                return Mono.create(sink -> sent.add(new Sent(now(), beat, sink)));
            }

            @Override
            public Disposable onFreePermits(Runnable listener) {
                wakeUps.add(listener);
                return () -> wakeUps.remove(listener);
            }

            @Override
            public Mono<Void> callNodes() {
                return Mono.fromRunnable(() -> called++);
            }

            @Override
            public Disposable onCall(Runnable listener) {
                calls.add(listener);
                return () -> calls.remove(listener);
            }
        };
        return new SliceNode(pool, TenantShares.EQUAL, network, TERM, outages, this::newName, time, time);
    }

    private String newName() {
        if (haveNamesFailed) {
            throw new AssertionError("no name");
        }
        return "node-" + names.getAndIncrement();
    }

    private void with(OutagePolicy outages) {
        pool = newPool();
        node = node(outages);
        for (int i = 0; i < PERMITS; i++) {
            ask("a");
        }
    }

    private long now() {
        return time.now(TimeUnit.MILLISECONDS);
    }

    private Sent last() {
        return sent.get(sent.size() - 1);
    }

    private void pass(Duration duration) {
        time.advanceBy(duration);
    }

    /** Has the ledger answer the last heartbeat. */
    private void answer() {
        Sent last = last();
        last.sink().success(kernel.heartbeat(ledger, last.beat(), now(), "redis"));
        time.runDue();
    }

    private void ask(String tenant) {
        pool.acquire(PermitRequest.of(tenant).withEventLoop(Runnable::run).withMaxWait(Duration.ofHours(1)))
                .subscribe(held -> {}, error -> unavailable.incrementAndGet());
        time.runDue();
    }

    /** Until the first recovery of the ledger is over. Then the node has a slice, and so has another node. */
    private void begin() {
        node.start();
        time.runDue();
        answer();
        pass(HeartbeatTimer.LEAST_BETWEEN_BEATS);
        answer();
        pass(HeartbeatTimer.BEATS.minus(HeartbeatTimer.LEAST_BETWEEN_BEATS));
        for (int i = 1; i <= 60; i++) {
            otherNodesBeat(i);
            answer();
            pass(HeartbeatTimer.BEATS);
        }
        answer();
        assertThat(slice()).isPositive();
    }

    private void otherNodesBeat(int sequence) {
        otherNodes.forEach((name, wanted) -> otherNodeBeats(name, wanted, sequence));
    }

    private void otherNodeBeats(String name, int wanted, int sequence) {
        LedgerState.Node other = ledger.nodes.get(name);
        String demand = new NodeDemand(
                        Map.of(TenantId.of(name), (double) wanted), owedToOthers, limitOfOtherNode, LargeDemand.NONE)
                .text();
        Heartbeat beat = new Heartbeat(
                name,
                sequence,
                LedgerVersion.NONE,
                other == null ? 0 : other.slice(),
                wanted,
                PERMITS,
                List.of(),
                demand,
                false);
        kernel.heartbeat(ledger, beat, now(), "redis");
    }

    /** What the ledger has recorded for the node. */
    private int slice() {
        return Objects.requireNonNull(ledger.nodes.get(last().beat().node())).slice();
    }

    @Test
    void a_node_asks_what_the_others_want_and_soon_after_for_permits() {
        node.start();
        time.runDue();
        assertThat(sent).hasSize(1);
        assertThat(last().beat().wanted()).isZero();
        answer();
        pass(HeartbeatTimer.LEAST_BETWEEN_BEATS);
        assertThat(sent).hasSize(2);
        assertThat(last().beat().wanted()).isEqualTo(PERMITS);
    }

    @Test
    void a_heartbeat_is_sent_every_tenth_of_a_second() {
        begin();
        int before = sent.size();
        for (int i = 0; i < 10; i++) {
            pass(HeartbeatTimer.BEATS);
            answer();
        }
        assertThat(sent).hasSize(before + 10);
    }

    @Test
    void after_a_heartbeat_without_an_answer_comes_another_one() {
        begin();
        pass(HeartbeatTimer.BEATS);
        int before = sent.size();
        pass(SliceNode.PATIENCE.minus(SOON));
        assertThat(sent).as("one call at a time").hasSize(before);
        pass(SOON.plus(HeartbeatTimer.LEAST_BETWEEN_BEATS));
        assertThat(sent).hasSize(before + 1);
        assertThat(node.status().failure()).isEqualTo("TimeoutException: no answer within 300 ms");
        assertThat(last().beat().sequence())
                .isEqualTo(sent.get(before - 1).beat().sequence() + 1);
    }

    @Test
    void after_a_fault_and_after_no_answer_at_all_heartbeats_go_on() {
        begin();
        isBroken = true;
        pass(HeartbeatTimer.BEATS);
        isBroken = false;
        int before = sent.size();
        pass(HeartbeatTimer.BEATS);
        assertThat(sent).hasSize(before + 1);
        last().sink().success();
        pass(HeartbeatTimer.BEATS);
        assertThat(sent).hasSize(before + 2);
    }

    @Test
    void requests_that_begin_to_wait_are_told_at_once_and_not_more_often_than_allowed() {
        begin();
        int slice = slice();
        pass(SOON);
        for (int i = 0; i < slice; i++) {
            ask("a");
        }
        int before = sent.size();
        ask("a");
        assertThat(sent).as("too soon").hasSize(before);
        pass(HeartbeatTimer.LEAST_BETWEEN_BEATS.minus(SOON));
        assertThat(sent).hasSize(before + 1);
        assertThat(last().beat().wanted()).isGreaterThan(slice);
        answer();
        assertThat(pool.inFlight().block()).isEqualTo(slice + 1);
    }

    @Test
    void a_heartbeat_that_is_due_during_another_one_follows_it() {
        begin();
        pass(HeartbeatTimer.BEATS);
        int before = sent.size();
        for (int i = 0; i <= slice(); i++) {
            ask("a");
        }
        pass(HeartbeatTimer.LEAST_BETWEEN_BEATS.multipliedBy(2));
        assertThat(sent).hasSize(before);
        answer();
        assertThat(sent).hasSize(before + 1);
    }

    @Test
    void free_permits_matter_only_below_the_target() {
        begin();
        pass(HeartbeatTimer.LEAST_BETWEEN_BEATS);
        int before = sent.size();
        wakeUps.forEach(Runnable::run);
        time.runDue();
        assertThat(sent).hasSize(before);
    }

    /** Three of four nodes are entitled to 8/3 permits, and the others are owed more than this one, which has 2. */
    @Test
    void a_node_that_lacks_a_part_of_a_permit_asks_when_permits_become_free_but_not_at_each_time() {
        otherNodes.putAll(Map.of("other", 3, "third-0", 3, "fourth-0", 2));
        owedToOthers = 100;
        for (int i = 0; i < PERMITS; i++) {
            ask("a");
        }
        begin();
        pass(HeartbeatTimer.BEATS.minus(SOON));
        assertThat(slice()).isEqualTo(2);
        int before = sent.size();
        for (int i = 0; i < 40; i++) {
            wakeUps.forEach(Runnable::run);
            time.runDue();
            answer();
            pass(SOON);
        }
        assertThat(sent.size() - before).isBetween(2, 3);
    }

    @Test
    void a_node_that_begins_to_lack_permits_calls_the_others_once() {
        otherNodes.put("other", PERMITS - 2);
        ask("a");
        ask("a");
        begin();
        int before = called;
        for (int i = 0; i < PERMITS; i++) {
            ask("a");
        }
        for (int i = 0; i < 10; i++) {
            pass(HeartbeatTimer.BEATS);
            answer();
        }
        assertThat(last().beat().wanted()).isEqualTo(PERMITS / 2);
        assertThat(slice()).as("the other node keeps the rest").isEqualTo(2);
        assertThat(called).isEqualTo(before + 1);
    }

    @Test
    void a_node_is_heard_soon_after_a_call_if_it_has_permits() {
        begin();
        pass(HeartbeatTimer.LEAST_BETWEEN_BEATS);
        int before = sent.size();
        calls.forEach(Runnable::run);
        time.runDue();
        assertThat(sent).hasSize(before + 1);
    }

    @Test
    void a_call_does_not_concern_a_node_without_permits() {
        node.start();
        time.runDue();
        answer();
        pass(HeartbeatTimer.LEAST_BETWEEN_BEATS);
        answer();
        pass(HeartbeatTimer.LEAST_BETWEEN_BEATS);
        assertThat(slice()).isZero();
        int before = sent.size();
        calls.forEach(Runnable::run);
        time.runDue();
        assertThat(sent).hasSize(before);
    }

    @Test
    void a_changed_size_is_told_soon() {
        begin();
        pass(HeartbeatTimer.LEAST_BETWEEN_BEATS);
        node.reconfigure(4, TenantShares.EQUAL);
        time.runDue();
        assertThat(last().beat().limit()).isEqualTo(4);
        answer();
        pass(HeartbeatTimer.BEATS);
        answer();
        assertThat(ledger.used()).isLessThanOrEqualTo(4);
    }

    @Test
    void the_last_heartbeat_gives_all_back_and_no_other_one_follows() {
        begin();
        pass(SOON);
        AtomicInteger ended = new AtomicInteger();
        node.stop().subscribe(nothing -> {}, error -> {}, ended::incrementAndGet);
        time.runDue();
        assertThat(last().beat().isLast()).isTrue();
        int before = sent.size();
        pass(HeartbeatTimer.BEATS);
        assertThat(sent).hasSize(before);
        answer();
        assertThat(ended).hasValue(1);
        assertThat(slice()).isZero();
        pass(Duration.ofSeconds(1));
        assertThat(sent).hasSize(before);
    }

    @Test
    void a_node_ends_without_an_answer_to_its_last_heartbeat() {
        begin();
        AtomicInteger ended = new AtomicInteger();
        node.stop().subscribe(nothing -> {}, error -> {}, ended::incrementAndGet);
        pass(SliceNode.PATIENCE.plus(SOON));
        assertThat(ended).hasValue(1);
    }

    @Test
    void while_policies_differ_the_smallest_pool_is_divided() {
        begin();
        limitOfOtherNode = 5;
        otherNodesBeat(61);
        pass(HeartbeatTimer.BEATS);
        answer();
        for (int i = 0; i < PERMITS; i++) {
            ask("a");
        }
        pass(HeartbeatTimer.BEATS);
        answer();
        assertThat(last().beat().wanted()).as("half of the smallest").isBetween(2, 3);
        assertThat(node.status().poolPermits()).isEqualTo(5);
    }

    @Test
    void its_status_says_what_it_has_until_the_slice_has_ended() {
        assertThat(node.status().isInForce()).as("before it began").isFalse();
        begin();
        SliceStatus status = node.status();
        assertThat(status.permits()).isEqualTo(slice()).isEqualTo(status.target());
        assertThat(status.nodes()).isEqualTo(2);
        assertThat(status.epoch()).isOne();
        assertThat(status.isRecovering()).isFalse();
        assertThat(status.isInForce()).isTrue();
        assertThat(status.sinceAnswer()).isZero();
        pass(Duration.ofNanos(TERM.grantNanos() - 1));
        assertThat(node.status().isInForce()).isTrue();
        assertThat(node.status().sinceAnswer()).isEqualTo(Duration.ofNanos(TERM.grantNanos() - 1));
        pass(Duration.ofNanos(1));
        assertThat(node.status().isInForce()).isFalse();
        assertThat(node.status().permits()).isZero();
    }

    @Test
    void its_status_says_how_long_an_answer_took() {
        assertThat(node.status().roundTrip()).isZero();
        begin();
        pass(HeartbeatTimer.BEATS);
        pass(Duration.ofMillis(7));
        answer();
        assertThat(node.status().roundTrip()).isEqualTo(Duration.ofMillis(7));
    }

    @Test
    void after_an_error_in_a_step_heartbeats_go_on() {
        begin();
        haveNamesFailed = true;
        pass(TERM.ttl());
        haveNamesFailed = false;
        int before = sent.size();
        pass(HeartbeatTimer.BEATS);
        assertThat(sent).hasSize(before + 1);
    }

    @Test
    void its_status_says_with_how_many_permits_it_goes_on_without_answers() {
        with(OutagePolicy.reserve(2, 0.2));
        begin();
        int reserve = PERMITS / 10;
        assertThat(node.status().permits()).isEqualTo(slice() + reserve);
        assertThat(node.status().poolPermits()).isEqualTo(PERMITS);
        assertThat(node.status().isOutage()).isFalse();
        pass(TERM.ttl());
        SliceStatus status = node.status();
        assertThat(status.isInForce()).isTrue();
        assertThat(status.isOutage()).isTrue();
        assertThat(status.permits()).isEqualTo(reserve);
        assertThat(status.failure()).isEqualTo("TimeoutException: no answer within 300 ms");
    }

    @Test
    void an_answer_that_is_too_late_to_give_a_slice_does_not_end_an_outage() {
        with(OutagePolicy.reserve(2, 0.2));
        begin();
        Duration afterTheTerm = Duration.ofNanos(TERM.nanos()).plusMillis(5);
        pass(afterTheTerm.minus(SliceNode.PATIENCE));
        int before = sent.size();
        Duration left = SliceNode.PATIENCE;
        while (sent.size() == before) {
            pass(SOON);
            left = left.minus(SOON);
        }
        pass(left);
        assertThat(sent).as("the last one in the term").hasSize(before + 1);
        answer();
        pass(SOON);
        assertThat(node.status().isOutage()).isTrue();
        assertThat(unavailable).hasValue(0);
    }

    @Test
    void an_outage_ends_with_an_answer_also_for_a_node_that_needs_no_permits() {
        pool = newPool();
        node = node(OutagePolicy.reserve(2, 0.2));
        node.start();
        pass(TERM.ttl().multipliedBy(2));
        assertThat(node.status().isOutage()).isTrue();
        for (int i = 1; i <= 3; i++) {
            otherNodesBeat(i);
            answer();
            pass(HeartbeatTimer.BEATS);
        }
        assertThat(node.status().target()).as("the reserve").isOne();
        assertThat(node.status().isOutage()).isFalse();
    }

    @Test
    void while_policies_differ_the_reserve_is_that_of_the_smallest_pool() {
        with(OutagePolicy.reserve(2, 0.4));
        begin();
        assertThat(node.status().permits()).isEqualTo(slice() + 2);
        limitOfOtherNode = 5;
        otherNodesBeat(61);
        pass(HeartbeatTimer.BEATS);
        answer();
        pass(HeartbeatTimer.BEATS);
        answer();
        assertThat(last().beat().limit()).isEqualTo(3);
        assertThat(node.status().permits()).isEqualTo(slice() + 1);
        assertThat(node.status().poolPermits()).isEqualTo(5);
    }

    @Test
    void in_an_outage_that_goes_on_with_an_empty_ledger_its_status_says_that_redis_answers_and_recovers() {
        with(OutagePolicy.optimistic(2));
        begin();
        pass(TERM.ttl());
        ledger = new LedgerState();
        for (int i = 1; i <= 5; i++) {
            pass(HeartbeatTimer.BEATS);
            otherNodesBeat(i);
            answer();
        }
        SliceStatus status = node.status();
        assertThat(status.isOutage()).isTrue();
        assertThat(status.isRecovering()).isTrue();
        assertThat(status.sinceAnswer()).isLessThanOrEqualTo(HeartbeatTimer.BEATS);
        assertThat(status.failure()).isNull();
    }

    @Test
    void its_status_says_that_it_grants_nothing_when_the_pool_becomes_too_small_in_an_outage() {
        with(OutagePolicy.reserve(2, 0.2));
        begin();
        pass(TERM.ttl());
        assertThat(node.status().isOutage()).isTrue();
        node.reconfigure(3, TenantShares.EQUAL);
        pass(SliceNode.PATIENCE.multipliedBy(2));
        assertThat(node.status().isOutage()).isFalse();
        assertThat(node.status().isInForce()).isFalse();
        assertThat(node.status().permits()).isZero();
    }

    @Test
    void without_an_answer_since_its_start_a_node_has_its_reserve_before_requests_are_refused() {
        with(OutagePolicy.reserve(2, 0.2));
        node.start();
        pass(Duration.ofNanos(TERM.grantNanos()));
        assertThat(node.status().isOutage()).isTrue();
        assertThat(node.status().permits()).isOne();
        assertThat(pool.inFlight().block()).isOne();
        assertThat(unavailable).hasValue(0);
    }
}
