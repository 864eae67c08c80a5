package io.fairgate.client;

import static io.fairgate.client.Scene.s;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.client.Scene.Told;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** Who asked for a lease and leaves: nothing of it stays at the server, whatever was lost on the way. */
class CancelledClaimTest {

    private static final LeaseOptions OPTIONS = LeaseOptions.of("a");

    private final Scene scene = new Scene();
    private final Network network = scene.network;

    @Test
    void who_leaves_while_it_waits_frees_its_place() {
        String other = scene.takeAll();
        Told<Lease> told = scene.subscribe(scene.client.acquire(OPTIONS.withMaxWait(s(60))));
        scene.passSeconds(40);
        told.cancel();

        assertThat(scene.server.waiting()).isZero();
        assertThat(scene.time.timersLeft()).isZero();
        scene.server.end(other);
        scene.assertNothingLeft();
        assertThat(network.sentAt("DELETE")).hasSize(1);
    }

    @Test
    void who_leaves_before_the_first_answer_learns_the_id_by_the_same_key() {
        scene.takeAll();
        Told<Lease> told = scene.subscribe(scene.client.acquire(OPTIONS.withMaxWait(s(60))));
        scene.passSeconds(10);
        told.cancel();

        assertThat(scene.server.waiting()).isZero();
        assertThat(scene.waits()).containsExactly("30000ms", "0ms");
        assertThat(scene.keys()).hasSize(1);
        assertThat(scene.time.timersLeft()).isZero();
    }

    @Test
    void a_grant_whose_answer_nobody_waits_for_any_more_is_given_back() {
        network.next(
                "POST", network.silent(), network.answerLost(), network.answering(ModelServer.problem(500, "bug")));
        Told<Lease> told = scene.subscribe(scene.client.acquire(OPTIONS));
        assertThat(scene.server.held()).isOne();
        told.cancel();
        scene.passSeconds(1);

        scene.assertNothingLeft();
        assertThat(scene.keys()).hasSize(1);
    }

    @Test
    void what_cannot_be_given_back_is_left_to_expire_and_not_tried_for_ever() {
        network.next("POST", network.silent());
        Told<Lease> told = scene.subscribe(scene.client.acquire(OPTIONS));
        network.always(call -> network.requestLost());
        told.cancel();
        scene.passSeconds(5);
        int sent = network.sent().size();
        assertThat(sent).isEqualTo(6);
        assertThat(scene.time.timersLeft()).isZero();
        scene.passSeconds(25);

        scene.assertNothingLeft();
        assertThat(network.sent()).hasSize(sent);
    }

    @Test
    void who_leaves_between_two_tries_leaves_nothing() {
        network.next("POST", network.answerLost());
        Told<Lease> told = scene.subscribe(scene.client.acquire(OPTIONS.withMaxWait(s(60))));
        told.cancel();
        scene.assertNothingLeft();

        network.next("POST", network.answering(ModelServer.problem(503, "draining", "5")));
        Told<Lease> refused = scene.subscribe(scene.client.acquire(OPTIONS.withMaxWait(s(60))));
        int sent = network.sent().size();
        refused.cancel();
        scene.assertNothingLeft();
        assertThat(network.sent()).as("a refused key has nothing open").hasSize(sent);
    }

    @Test
    void a_lease_that_was_handed_over_is_given_back_by_cancelling() {
        Told<Lease> told = scene.subscribe(scene.client.acquire(OPTIONS).flatMap(lease -> Mono.<Lease>never()));
        assertThat(scene.server.held()).isOne();
        told.cancel();
        scene.assertNothingLeft();

        Lease first =
                scene.subscribe(scene.client.acquire(OPTIONS).flux().next()).value();
        assertThat(first.isHeld()).as("next() cancels").isFalse();
        scene.assertNothingLeft();
    }
}
