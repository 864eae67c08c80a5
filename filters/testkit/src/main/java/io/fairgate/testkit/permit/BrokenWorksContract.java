package io.fairgate.testkit.permit;

import static org.assertj.core.api.Assertions.assertThat;
import static reactor.test.publisher.TestPublisher.Violation.CLEANUP_ON_TERMINATE;
import static reactor.test.publisher.TestPublisher.Violation.DEFER_CANCELLATION;

import io.fairgate.permit.PermitPool;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;
import reactor.test.publisher.TestPublisher;
import reactor.test.subscriber.TestSubscriber;

/** Works that break the rules of Reactive Streams, or whose signals cross a cancellation. */
abstract class BrokenWorksContract extends PoolTopic {

    BrokenWorksContract(PoolBackend backend) {
        super(backend);
    }

    /** Sends signals after its end, and after it was cancelled. */
    private static TestPublisher<Integer> rulebreaker() {
        return TestPublisher.createNoncompliant(CLEANUP_ON_TERMINATE, DEFER_CANCELLATION);
    }

    private static List<Object> droppedBy(Runnable signals) {
        List<Object> dropped = new ArrayList<>();
        Hooks.onErrorDropped(dropped::add);
        Hooks.onNextDropped(dropped::add);
        try {
            signals.run();
        } finally {
            Hooks.resetOnErrorDropped();
            Hooks.resetOnNextDropped();
        }
        return dropped;
    }

    @Test
    void an_error_that_follows_a_cancellation_releases_nothing_again() {
        PermitPool pool = poolOf(2);
        TestPublisher<Integer> work = rulebreaker();
        cancel(subscribe(pool.withPermit(request("a"), work.mono())));
        assertThat(droppedBy(() -> work.error(new IllegalStateException("late"))))
                .hasSize(1);
        assertThat(inFlight(pool)).isZero();
        assertThat(heard.released).hasValue(1);
    }

    @Test
    void repeated_terminal_signals_release_once() {
        PermitPool pool = poolOf(2);
        TestPublisher<Integer> work = rulebreaker();
        subscribe(pool.withPermit(request("a"), work.mono()));
        work.complete();
        work.complete();
        droppedBy(() -> work.error(new IllegalStateException("late")));
        assertThat(inFlight(pool)).isZero();
        assertThat(heard.released).hasValue(1);
    }

    @Test
    void signals_after_the_end_are_not_passed_on_and_go_to_the_hooks_of_reactor() {
        PermitPool pool = poolOf(2);
        TestPublisher<Integer> completes = rulebreaker();
        TestSubscriber<Integer> completed = subscribe(pool.withPermit(request("a"), completes.mono()));
        TestPublisher<Integer> cancelled = rulebreaker();
        TestSubscriber<Integer> left = subscribe(pool.withPermit(request("a"), cancelled.flux()));
        List<Object> dropped = droppedBy(() -> {
            completes.complete();
            completes.complete();
            cancel(left);
            cancelled.next(7);
            cancelled.complete();
            completes.error(new IllegalStateException("late"));
        });
        answer();
        assertThat(completed.isTerminatedComplete()).isTrue();
        for (TestSubscriber<Integer> each : List.of(completed, left)) {
            assertThat(each.getReceivedOnNext()).isEmpty();
            assertThat(each.getReceivedOnNextAfterCancellation()).isEmpty();
            assertThat(each.getProtocolErrors()).isEmpty();
        }
        assertThat(left.isTerminated()).isFalse();
        assertThat(dropped).hasSize(2).first().isEqualTo(7);
    }

    @Test
    void an_element_that_was_emitted_before_a_cancellation_is_discarded() {
        PermitPool pool = poolOf(1);
        List<Object> discarded = new ArrayList<>();
        TestPublisher<Integer> work = rulebreaker();
        TestSubscriber<Integer> subscriber =
                subscribe(pool.withPermit(request("a"), work.mono()).doOnDiscard(Integer.class, discarded::add));
        work.next(7);
        cancel(subscriber);
        assertThat(discarded).containsExactly(7);
    }

    @Test
    void a_work_that_throws_when_it_is_subscribed_gives_the_permit_back() {
        PermitPool pool = poolOf(1);
        Mono<Integer> throwing = new Mono<>() {
            @Override
            public void subscribe(CoreSubscriber<? super Integer> actual) {
                throw new IllegalStateException("at assembly");
            }
        };
        assertThat(subscribe(pool.withPermit(request("a"), throwing)).expectTerminalError())
                .hasMessage("at assembly");
        assertThat(inFlight(pool)).isZero();
    }
}
