package io.fairgate.client;

import static io.fairgate.client.Scene.s;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.client.Scene.Signals;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** Acquisitions that are cancelled: nothing of them stays at the server, whatever was lost on the way. */
class CancelledAcquisitionTest {

    private static final LeaseOptions OPTIONS = LeaseOptions.of("a");

    private final Scene scene = new Scene();
    private final Network network = scene.network;

    @Test
    void an_acquisition_that_is_cancelled_while_it_waits_frees_its_place() {
        String other = scene.takeAll();
        Signals<Lease> signals = scene.subscribe(scene.client.acquire(OPTIONS.withMaxWait(s(60))));
        scene.passSeconds(40);
        signals.cancel();

        assertThat(scene.server.waiting()).isZero();
        assertThat(scene.time.timersLeft()).isZero();
        scene.server.end(other);
        scene.assertNothingLeft();
        assertThat(network.sentAt("DELETE")).hasSize(1);
    }

    @Test
    void an_acquisition_that_is_cancelled_before_the_first_response_learns_the_id_by_the_same_key() {
        scene.takeAll();
        Signals<Lease> signals = scene.subscribe(scene.client.acquire(OPTIONS.withMaxWait(s(60))));
        scene.passSeconds(10);
        signals.cancel();

        assertThat(scene.server.waiting()).isZero();
        assertThat(scene.waits()).containsExactly("30000ms", "0ms");
        assertThat(scene.keys()).hasSize(1);
        assertThat(scene.time.timersLeft()).isZero();
    }

    @Test
    void a_grant_without_an_answer_is_given_back_after_the_cancellation() {
        network.next(
                "POST", network.silent(), network.answerLost(), network.answering(ModelServer.problem(500, "bug")));
        Signals<Lease> signals = scene.subscribe(scene.client.acquire(OPTIONS));
        assertThat(scene.server.held()).isOne();
        signals.cancel();
        scene.passSeconds(1);

        scene.assertNothingLeft();
        assertThat(scene.keys()).hasSize(1);
    }

    @Test
    void a_release_that_cannot_be_sent_is_not_repeated_for_ever() {
        network.next("POST", network.silent());
        Signals<Lease> signals = scene.subscribe(scene.client.acquire(OPTIONS));
        network.always(call -> network.requestLost());
        signals.cancel();
        scene.passSeconds(5);
        int sent = network.sent().size();
        assertThat(sent).isEqualTo(6);
        assertThat(scene.time.timersLeft()).isZero();
        scene.passSeconds(25);

        scene.assertNothingLeft();
        assertThat(network.sent()).hasSize(sent);
    }

    @Test
    void an_acquisition_that_is_cancelled_between_two_attempts_leaves_nothing() {
        network.next("POST", network.answerLost());
        Signals<Lease> signals = scene.subscribe(scene.client.acquire(OPTIONS.withMaxWait(s(60))));
        signals.cancel();
        scene.assertNothingLeft();

        network.next("POST", network.answering(ModelServer.problem(503, "draining", "5")));
        Signals<Lease> refused = scene.subscribe(scene.client.acquire(OPTIONS.withMaxWait(s(60))));
        int sent = network.sent().size();
        refused.cancel();
        scene.assertNothingLeft();
        assertThat(network.sent()).as("a refused key has nothing open").hasSize(sent);
    }

    @Test
    void a_lease_that_was_emitted_is_released_by_cancelling() {
        Signals<Lease> signals = scene.subscribe(scene.client.acquire(OPTIONS).flatMap(lease -> Mono.<Lease>never()));
        assertThat(scene.server.held()).isOne();
        signals.cancel();
        scene.assertNothingLeft();

        Lease first =
                scene.subscribe(scene.client.acquire(OPTIONS).flux().next()).value();
        assertThat(first.isHeld()).as("next() cancels").isFalse();
        scene.assertNothingLeft();
    }
}
