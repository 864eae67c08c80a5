package io.fairgate.client;

import static io.fairgate.client.Scene.s;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.client.Scene.Signals;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.test.publisher.TestPublisher;

class WithLeaseTest {

    private static final LeaseOptions OPTIONS = LeaseOptions.of("a");

    private final Scene scene = new Scene();
    private final Network network = scene.network;

    @Test
    void a_value_is_emitted_when_the_lease_was_released() {
        network.next("DELETE", network.delayed(s(0.5), s(1)));
        Sinks.One<String> work = Sinks.one();
        Signals<String> signals = scene.subscribe(scene.client.withLease(OPTIONS, lease -> work.asMono()));
        assertThat(scene.server.held()).isOne();
        work.tryEmitValue("done");
        scene.passSeconds(1.4);
        assertThat(signals.isOver()).isFalse();
        scene.passSeconds(0.1);

        assertThat(signals.value()).isEqualTo("done");
        assertThat(signals.isComplete).isTrue();
        scene.assertNothingLeft();
    }

    @Test
    void an_error_is_passed_on_when_the_lease_was_released() {
        Signals<String> signals = scene.subscribe(scene.client.withLease(
                OPTIONS, lease -> Mono.delay(s(40), scene.time).then(Mono.error(new IllegalStateException("broken")))));
        scene.passSeconds(40);

        assertThat(signals.error).hasMessage("broken");
        scene.assertNothingLeft();
    }

    @Test
    void a_work_that_cannot_be_made_releases() {
        Signals<String> signals = scene.subscribe(scene.client.withLease(OPTIONS, lease -> {
            throw new IllegalStateException("broken");
        }));
        assertThat(signals.error).hasMessage("broken");
        scene.assertNothingLeft();
    }

    @Test
    void elements_are_passed_on_and_their_end_waits_for_the_release() {
        List<Boolean> held = new ArrayList<>();
        network.next("DELETE", network.delayed(s(1), s(0)));
        Signals<Integer> signals = scene.subscribe(scene.client.withLeaseMany(
                OPTIONS, lease -> Flux.just(1, 2, 3).doOnNext(n -> held.add(lease.isHeld()))));

        assertThat(signals.values).containsExactly(1, 2, 3);
        assertThat(held).containsOnly(true);
        assertThat(signals.isOver()).isFalse();
        scene.passSeconds(1);
        assertThat(signals.isComplete).isTrue();
        scene.assertNothingLeft();
    }

    @Test
    void a_release_that_fails_does_not_fail_the_work_nor_keep_it_for_long() {
        network.next("DELETE", network.answering(ModelServer.problem(403, "unknown-tenant")));
        Signals<String> refused = scene.subscribe(scene.client.withLease(OPTIONS, lease -> Mono.just("done")));
        assertThat(refused.value()).isEqualTo("done");

        network.always(call -> call.method().equals("DELETE") ? network.silent() : network.straight());
        Signals<String> silent = scene.subscribe(scene.client.withLease(OPTIONS, lease -> Mono.just("done")));
        scene.passSeconds(4.9);
        assertThat(silent.isOver()).isFalse();
        scene.passSeconds(0.1);
        assertThat(silent.value()).isEqualTo("done");
    }

    @Test
    void cancelling_cancels_the_work_and_releases() {
        TestPublisher<String> work = TestPublisher.create();
        Signals<String> signals = scene.subscribe(scene.client.withLease(OPTIONS, lease -> work.mono()));
        work.assertSubscribers(1);
        signals.cancel();

        work.assertCancelled();
        scene.assertNothingLeft();
        scene.passSeconds(60);
        assertThat(network.sentAt("PUT")).isEmpty();
    }

    @Test
    void cancelling_while_waiting_frees_the_place_and_the_work_is_never_made() {
        String other = scene.takeAll();
        AtomicReference<Lease> given = new AtomicReference<>();
        Signals<String> signals = scene.subscribe(scene.client.withLease(OPTIONS.withMaxWait(s(60)), lease -> {
            given.set(lease);
            return Mono.just("done");
        }));
        scene.passSeconds(35);
        signals.cancel();
        scene.server.end(other);

        assertThat(given).hasValue(null);
        scene.assertNothingLeft();
    }

    @Test
    void without_a_lease_the_work_is_not_created() {
        AtomicReference<Lease> given = new AtomicReference<>();
        Signals<String> signals = scene.subscribe(scene.client.withLease(LeaseOptions.of("c"), lease -> {
            given.set(lease);
            return Mono.just("done");
        }));
        assertThat(signals.refusal().reason()).isEqualTo("unknown-pool");
        assertThat(given).hasValue(null);
    }

    @Test
    void a_loss_cancels_the_work_and_is_an_error_before_another_holder_has_the_permits() {
        TestPublisher<String> work = TestPublisher.create();
        Signals<String> signals =
                scene.subscribe(scene.client.withLease(LeaseOptions.of("a", 2), lease -> work.mono()));
        network.always(call -> network.requestLost());
        scene.passSeconds(28.9);
        work.assertNotCancelled();
        scene.passSeconds(0.1);

        work.assertCancelled();
        assertThat(signals.error).isInstanceOf(LeaseLostException.class);
        assertThat(scene.server.held()).isEqualTo(2);
        assertThat(network.sentAt("DELETE"))
                .as("the margin is for a work that is ending")
                .isEmpty();
        assertThat(scene.time.timersLeft()).isZero();
        scene.passSeconds(1);
        scene.assertNothingLeft();
    }

    @Test
    void a_loss_ends_elements_too() {
        Signals<Long> signals =
                scene.subscribe(scene.client.withLeaseMany(OPTIONS, lease -> Flux.interval(s(9), scene.time)));
        scene.passSeconds(15);
        scene.server.restart(s(0));
        scene.passSeconds(30);

        assertThat(signals.values).containsExactly(0L, 1L);
        assertThat(signals.error).isInstanceOf(LeaseLostException.class);
    }

    @Test
    void a_work_goes_on_when_the_server_was_started_anew_and_sees_the_new_token() {
        List<Long> tokens = new ArrayList<>();
        Signals<Long> signals = scene.subscribe(scene.client.withLeaseMany(
                OPTIONS,
                lease -> Flux.interval(s(30), scene.time)
                        .doOnNext(n -> tokens.add(lease.token()))
                        .take(3)));
        scene.passSeconds(35);
        scene.server.restart(s(60));
        scene.passSeconds(60);

        assertThat(signals.isComplete).isTrue();
        assertThat(tokens).isSorted().hasSize(3).startsWith(1L, 2L);
    }

    @Test
    void a_work_may_release_its_lease_and_go_on() {
        Signals<String> signals = scene.subscribe(scene.client.withLease(
                OPTIONS,
                lease -> lease.release().then(Mono.delay(s(5), scene.time)).thenReturn("done")));
        assertThat(scene.server.held()).isZero();
        scene.passSeconds(5);

        assertThat(signals.value()).isEqualTo("done");
    }
}
