package io.fairgate.spring.forward;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.spring.exchange.Carried;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Disposable;
import reactor.core.publisher.Operators;
import reactor.netty.Connection;
import reactor.test.publisher.TestPublisher;

/** In the time of a client's connection that has no network. */
class UpstreamAnswerTest {

    private static final long MOST = TimeUnit.SECONDS.toNanos(30);

    private final EmbeddedChannel client = new EmbeddedChannel();
    private final NotedCall call = new NotedCall();

    private static final class NotedCall implements UpstreamAnswer.Call {
        private UpstreamAnswer answer;

        @Override
        public void awaits(UpstreamAnswer awaited) {
            answer = awaited;
        }
    }

    /** One request, and how it ended. */
    private final class Request {
        final TestPublisher<Void> exchange = TestPublisher.create();
        final List<String> ends = new ArrayList<>();
        final Disposable answer;

        Request(long mostNanos) {
            answer = UpstreamAnswer.to(exchange, Connection.from(client), mostNanos, call)
                    .subscribe(
                            nothing -> {},
                            failure -> ends.add(failure.getClass().getSimpleName()),
                            () -> ends.add("answered"));
        }
    }

    @BeforeEach
    void freeze() {
        client.freezeTime();
    }

    @AfterEach
    void close() {
        var unused = client.close();
    }

    private void pass(int seconds) {
        client.advanceTimeBy(seconds, TimeUnit.SECONDS);
        client.runScheduledPendingTasks();
    }

    @Test
    void an_answer_in_time_completes() {
        Request request = new Request(MOST);
        pass(29);
        request.exchange.complete();
        pass(3600);
        assertThat(request.ends).containsExactly("answered");
        request.exchange.assertWasNotCancelled();
    }

    @Test
    void the_time_begins_again_with_each_part_of_the_request() {
        Request request = new Request(MOST);
        for (int i = 0; i < 10; i++) {
            pass(29);
            call.answer.begunAgain();
        }
        pass(29);
        assertThat(request.ends).isEmpty();
        pass(1);
        assertThat(request.ends).containsExactly(TimeoutException.class.getSimpleName());
        call.answer.begunAgain();
        pass(3600);
        assertThat(request.ends).hasSize(1);
    }

    @Test
    void without_a_longest_time_a_part_of_the_request_sets_none() {
        Request request = new Request(0);
        call.answer.begunAgain();
        pass(3600);
        assertThat(request.ends).isEmpty();
    }

    @Test
    void a_late_answer_is_a_timeout_and_abandons_the_exchange() {
        Request request = new Request(MOST);
        pass(29);
        assertThat(request.ends).isEmpty();
        pass(1);
        assertThat(request.ends).containsExactly(TimeoutException.class.getSimpleName());
        request.exchange.assertCancelled();
        request.exchange.complete();
        assertThat(request.ends).hasSize(1);
    }

    /** As when the headers come at the moment of the deadline, on another thread. */
    @Test
    void after_a_timeout_nothing_else_is_signalled() {
        List<String> signals = new ArrayList<>();
        List<Subscriber<? super Void>> late = new ArrayList<>();
        Publisher<Void> exchange = subscriber -> {
            late.add(subscriber);
            subscriber.onSubscribe(Operators.emptySubscription());
        };
        UpstreamAnswer.to(exchange, Connection.from(client), MOST, call).subscribe(recordTo(signals));
        pass(30);
        late.get(0).onComplete();
        assertThat(signals).containsExactly(TimeoutException.class.getSimpleName());
    }

    private static CoreSubscriber<Void> recordTo(List<String> signals) {
        return new CoreSubscriber<>() {
            @Override
            public void onSubscribe(Subscription subscription) {
                subscription.request(1);
            }

            @Override
            public void onNext(Void nothing) {}

            @Override
            public void onError(Throwable failure) {
                signals.add(failure.getClass().getSimpleName());
            }

            @Override
            public void onComplete() {
                signals.add("answered");
            }
        };
    }

    @Test
    void the_next_request_of_the_client_has_its_whole_time() {
        new Request(MOST).exchange.complete();
        pass(20);
        Request next = new Request(MOST);
        pass(29);
        assertThat(next.ends).isEmpty();
        pass(1);
        assertThat(next.ends).containsExactly(TimeoutException.class.getSimpleName());
    }

    @Test
    void a_shorter_time_of_the_next_request_counts() {
        new Request(MOST).exchange.complete();
        Request next = new Request(MOST / 30);
        pass(1);
        assertThat(next.ends).containsExactly(TimeoutException.class.getSimpleName());
    }

    @Test
    void a_request_that_ends_late_leaves_the_time_of_the_next_one() {
        Request cancelled = new Request(MOST);
        Request next = new Request(MOST);
        cancelled.answer.dispose();
        cancelled.exchange.assertCancelled();
        pass(30);
        assertThat(cancelled.ends).isEmpty();
        assertThat(next.ends).containsExactly(TimeoutException.class.getSimpleName());
    }

    @Test
    void a_failure_of_the_exchange_is_passed_on() {
        Request request = new Request(MOST);
        request.exchange.error(new IllegalStateException());
        pass(30);
        assertThat(request.ends).containsExactly(IllegalStateException.class.getSimpleName());
    }

    @Test
    void without_a_limit_there_is_no_timer() {
        Request request = new Request(0);
        assertThat(client.runScheduledPendingTasks()).isNegative();
        request.exchange.complete();
        assertThat(request.ends).containsExactly("answered");
    }

    @Test
    void a_closed_connection_of_a_client_leaves_no_timer() {
        new Request(MOST);
        client.unsafe().close(client.newPromise()); // Without the clearing up of a channel for tests.
        assertThat(client.runScheduledPendingTasks()).isNegative();
    }

    @Test
    void the_exchange_finds_what_is_carried() {
        List<NotedCall> found = new ArrayList<>();
        TestPublisher<Void> exchange = TestPublisher.create();
        UpstreamAnswer.to(
                        exchange.mono().transformDeferredContextual((all, context) -> {
                            found.add(Carried.find(context, NotedCall.class));
                            return all;
                        }),
                        Connection.from(client),
                        MOST,
                        call)
                .subscribe(nothing -> {});
        assertThat(found).containsExactly(call);
    }
}
