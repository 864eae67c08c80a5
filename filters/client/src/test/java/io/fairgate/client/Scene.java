package io.fairgate.client;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.testkit.TestTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;

/** A client and a server with pools {@code a} and {@code b} of two permits each, in virtual time. */
final class Scene {

    final TestTime time = new TestTime();
    final ModelServer server = new ModelServer(time, Map.of("a", 2, "b", 2));
    final Network network = new Network(time, server);
    final LeaseClient client = new LeaseClient(network, time, () -> 0.4);

    /** What a subscriber has received. */
    static final class Signals<T> {
        final List<T> values = new ArrayList<>();

        @Nullable
        Throwable error;

        boolean isComplete;

        @Nullable
        Disposable subscription;

        T value() {
            assertThat(error).isNull();
            assertThat(values).hasSize(1);
            return values.get(0);
        }

        boolean isOver() {
            return isComplete || error != null;
        }

        LeaseException refusal() {
            assertThat(error).isInstanceOf(LeaseException.class);
            return (LeaseException) requireNonNull(error);
        }

        void cancel() {
            requireNonNull(subscription).dispose();
        }
    }

    <T> Signals<T> subscribe(Publisher<T> publisher) {
        Signals<T> signals = new Signals<>();
        signals.subscription = Flux.from(publisher)
                .subscribe(signals.values::add, e -> signals.error = e, () -> signals.isComplete = true);
        return signals;
    }

    /** Both permits of {@code a}, for another holder. */
    String takeAll() {
        return server.grantToAnother("a", 2, Duration.ofHours(1));
    }

    Lease acquire(LeaseOptions options) {
        return subscribe(client.acquire(options)).value();
    }

    void pass(Duration duration) {
        time.advanceBy(duration);
    }

    void passSeconds(double seconds) {
        time.advanceBy(s(seconds));
    }

    /** Seconds. */
    static Duration s(double seconds) {
        return Duration.ofMillis(Math.round(seconds * 1000));
    }

    /** The keys under which a lease was asked for, each once. */
    List<String> keys() {
        return server.calls("POST").stream()
                .map(call -> requireNonNull(call.key()))
                .distinct()
                .toList();
    }

    /** How long the server was to wait, call by call. */
    List<Object> waits() {
        return server.calls("POST").stream()
                .map(call -> requireNonNull(call.body()).get("maxWait"))
                .toList();
    }

    /** Nothing held, nothing waiting, no timer: neither now nor for a lost call's sake later. */
    void assertNothingLeft() {
        assertThat(server.held()).as("held").isZero();
        assertThat(server.waiting()).as("waiting").isZero();
        assertThat(time.timersLeft()).as("timers").isZero();
    }
}
