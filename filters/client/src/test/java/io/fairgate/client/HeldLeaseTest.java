package io.fairgate.client;

import static io.fairgate.client.Scene.s;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.client.Scene.Signals;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Sinks;

/** A lease that is held: how it is extended, when it is lost, and its release. */
class HeldLeaseTest {

    private static final LeaseOptions OPTIONS = LeaseOptions.of("a");

    private final Scene scene = new Scene();
    private final Network network = scene.network;

    @Test
    void a_lease_is_extended_after_each_third_of_its_time() {
        Lease lease = scene.acquire(OPTIONS);
        scene.passSeconds(95);

        assertThat(network.sentAt("PUT")).startsWith(s(10), s(20), s(30)).hasSize(9);
        assertThat(lease.isHeld()).isTrue();
        assertThat(scene.server.held()).isOne();
    }

    @Test
    void the_time_that_the_server_granted_counts_and_not_the_one_that_was_requested() {
        scene.server.cutTtlTo(s(6));
        Lease lease = scene.acquire(OPTIONS);
        scene.passSeconds(7);

        assertThat(network.sentAt("PUT")).containsExactly(s(2), s(4), s(6));
        assertThat(lease.isHeld()).isTrue();
    }

    @Test
    void a_failed_call_is_repeated_within_the_time() {
        Lease lease = scene.acquire(OPTIONS);
        network.next(
                "PUT",
                network.requestLost(),
                network.answerLost(),
                network.answering(ModelServer.problem(500, "bug")),
                network.answering(ModelServer.problem(401, "no-identity")));
        scene.passSeconds(29.5);

        // A twentieth of 30 s, and by chance a tenth of that.
        assertThat(network.sentAt("PUT")).startsWith(s(10), s(11.65), s(13.3), s(14.95), s(16.6));
        assertThat(lease.isHeld()).isTrue();
    }

    @Test
    void a_server_that_asks_for_patience_gets_it_as_far_as_the_time_allows() {
        scene.acquire(OPTIONS);
        network.next("PUT", network.answering(ModelServer.problem(503, "draining", "3")));
        network.next("PUT", network.answering(ModelServer.problem(503, "draining", "600")));
        scene.passSeconds(20);

        assertThat(network.sentAt("PUT")).containsExactly(s(10), s(13), s(18));
    }

    @Test
    void an_answer_that_does_not_come_is_not_waited_for_for_ever() {
        Lease lease = scene.acquire(OPTIONS);
        network.next("PUT", network.silent(), network.silent());
        scene.passSeconds(28);

        assertThat(network.sentAt("PUT")).startsWith(s(10), s(16.65), s(23.3));
        assertThat(lease.isHeld()).isTrue();
    }

    @Test
    void never_two_calls_at_once() {
        scene.acquire(OPTIONS);
        network.always(call -> network.delayed(s(4), s(4)));
        scene.passSeconds(28);

        assertThat(network.sentAt("PUT")).hasSizeGreaterThan(2);
        assertThat(network.mostUnderWay()).isOne();
    }

    @Test
    void a_lease_is_lost_at_its_expiry_less_the_margin() {
        Lease lease = scene.acquire(OPTIONS);
        Signals<Void> lost = scene.subscribe(lease.lost());
        network.always(call -> network.requestLost());

        scene.passSeconds(28.999);
        assertThat(lease.isHeld()).isTrue();
        assertThat(lost.isOver()).isFalse();

        scene.passSeconds(0.001);
        assertThat(lease.isHeld()).isFalse();
        assertThat(lost.error)
                .isInstanceOfSatisfying(
                        LeaseLostException.class, e -> assertThat(e.id()).isEqualTo(lease.id()))
                .hasRootCauseMessage("reset");
        assertThat(scene.server.held()).as("not given to another holder yet").isOne();
        assertThat(scene.time.timersLeft()).isZero();
    }

    @Test
    void its_time_counts_from_the_sending_and_not_from_the_answer() {
        Lease lease = scene.acquire(OPTIONS);
        network.next("PUT", network.delayed(s(0), s(4)));
        scene.passSeconds(10);
        network.always(call -> network.requestLost());

        scene.passSeconds(28.9);
        assertThat(lease.isHeld()).isTrue();
        scene.passSeconds(0.1);
        assertThat(lease.isHeld()).as("29 s after the call of second 10").isFalse();
    }

    @Test
    void a_short_lease_has_a_short_margin() {
        Lease lease = scene.acquire(OPTIONS.withTtl(s(1)));
        network.always(call -> network.requestLost());

        scene.passSeconds(0.899);
        assertThat(lease.isHeld()).isTrue();
        scene.passSeconds(0.001);
        assertThat(lease.isHeld()).isFalse();
    }

    @Test
    void a_holder_that_was_paused_for_longer_than_the_lease_lasts_has_lost_it_whatever_response_comes_first() {
        PausedTime time = new PausedTime(scene.time);
        LeaseClient client = new LeaseClient(network, time, () -> 0);
        Lease lease = scene.subscribe(client.acquire(OPTIONS)).value();
        Signals<Void> lost = scene.subscribe(lease.lost());
        Sinks.One<ApiResponse> answer = Sinks.one();
        network.next("PUT", call -> scene.server.handle(call).then(answer.asMono()));
        scene.passSeconds(10);
        time.pause(s(20));
        assertThat(lease.isHeld()).isFalse();
        assertThat(lost.isOver()).as("no timer has run").isFalse();

        answer.tryEmitValue(ApiResponse.of(
                200,
                null,
                "{\"id\":\"%s\",\"state\":\"held\",\"token\":1,\"expiresInMillis\":30000}"
                        .formatted(lease.id())
                        .getBytes(StandardCharsets.UTF_8)));
        assertThat(lease.isHeld()).isFalse();
        assertThat(lost.error).isInstanceOf(LeaseLostException.class);
        assertThat(scene.time.timersLeft()).isZero();
    }

    @Test
    void a_time_that_was_cut_while_it_was_held_is_lost_as_early() {
        Lease lease = scene.acquire(OPTIONS);
        scene.server.cutTtlTo(s(2));
        scene.passSeconds(10);
        network.always(call -> network.requestLost());

        scene.passSeconds(1.8);
        assertThat(lease.isHeld()).isFalse();
        assertThat(scene.subscribe(lease.lost()).isOver()).isTrue();
    }

    @Test
    void close_to_the_longest_hold_it_asks_more_often_but_not_without_end() {
        Lease lease = scene.acquire(OPTIONS);
        String body = "{\"id\":\"%s\",\"state\":\"held\",\"token\":1,\"expiresInMillis\":%d}";
        network.always(call -> {
            long left = 40_000 - scene.time.now(TimeUnit.MILLISECONDS);
            return network.answering(ApiResponse.of(
                    200,
                    null,
                    body.formatted(lease.id(), Math.min(30_000, left)).getBytes(StandardCharsets.UTF_8)));
        });
        scene.passSeconds(41);

        assertThat(lease.isHeld()).isFalse();
        assertThat(network.sentAt("PUT")).hasSizeLessThan(30);
    }

    // ---- the end ----

    @Test
    void a_released_lease_is_neither_held_nor_extended() {
        Lease lease = scene.acquire(OPTIONS);
        Signals<Void> lost = scene.subscribe(lease.lost());
        Signals<Void> released = scene.subscribe(lease.release());

        assertThat(released.isComplete).isTrue();
        assertThat(lost.isComplete).isTrue();
        assertThat(lease.isHeld()).isFalse();
        scene.assertNothingLeft();
        scene.passSeconds(60);
        assertThat(network.sentAt("PUT")).isEmpty();
    }

    @Test
    void nothing_is_released_before_it_is_subscribed_and_twice_does_no_harm() {
        Lease lease = scene.acquire(OPTIONS);
        var release = lease.release();
        assertThat(lease.isHeld()).isTrue();
        assertThat(network.sentAt("DELETE")).isEmpty();

        assertThat(scene.subscribe(release).isComplete).isTrue();
        assertThat(scene.subscribe(release).isComplete).isTrue();
        assertThat(network.sentAt("DELETE")).hasSize(2);
    }

    @Test
    void a_release_is_tried_again_and_not_for_ever() {
        Lease lease = scene.acquire(OPTIONS);
        network.next("DELETE", network.requestLost(), network.answering(ModelServer.problem(502, "proxy")));
        Signals<Void> released = scene.subscribe(lease.release());
        scene.passSeconds(1);
        assertThat(released.isComplete).isTrue();

        Lease other = scene.acquire(OPTIONS);
        network.always(call -> network.requestLost());
        Signals<Void> failed = scene.subscribe(other.release());
        assertThat(other.isHeld()).isFalse();
        scene.passSeconds(5);
        assertThat(failed.refusal().reason()).isEqualTo("unreachable");
        assertThat(failed.refusal().status()).isZero();
        assertThat(network.sentAt("DELETE")).hasSize(3 + 5);

        network.always(call -> network.silent());
        Signals<Void> silent = scene.subscribe(other.release());
        scene.passSeconds(5);
        assertThat(silent.refusal().reason()).isEqualTo("unreachable");
        assertThat(scene.time.timersLeft()).isZero();
    }

    @Test
    void a_call_under_way_ends_with_the_release() {
        Lease lease = scene.acquire(OPTIONS);
        network.next("PUT", network.silent());
        scene.passSeconds(10);
        scene.subscribe(lease.release());

        scene.assertNothingLeft();
        scene.passSeconds(60);
        assertThat(network.sentAt("PUT")).hasSize(1);
    }
}
