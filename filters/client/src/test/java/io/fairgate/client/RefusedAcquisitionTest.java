package io.fairgate.client;

import static io.fairgate.client.Scene.s;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.client.Scene.Signals;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** A lease that the server refuses, for now or for good. */
class RefusedAcquisitionTest {

    private static final LeaseOptions OPTIONS = LeaseOptions.of("a");

    private final Scene scene = new Scene();
    private final Network network = scene.network;

    @Test
    void a_temporary_refusal_is_repeated_when_the_server_says_so() {
        network.next(
                "POST",
                network.answering(ModelServer.problem(429, "quota-exceeded", "2")),
                network.answering(ModelServer.problem(503, "max-wait", "1")),
                network.answering(ModelServer.problem(503, "max-wait")));
        Signals<Lease> signals = scene.subscribe(scene.client.acquire(OPTIONS.withMaxWait(s(30))));
        scene.passSeconds(10);

        assertThat(signals.value().isHeld()).isTrue();
        assertThat(network.sentAt("POST")).containsExactly(s(0), s(2.2), s(3.3), s(3.74));
        assertThat(network.sent().stream().map(sent -> sent.call().key()).distinct())
                .as("a refused key has ended")
                .hasSize(4);
    }

    @Test
    void a_refusal_that_outlasts_the_wait_is_an_error_at_once() {
        network.next("POST", network.answering(ModelServer.problem(429, "quota-exceeded", "60")));
        Signals<Lease> signals = scene.subscribe(scene.client.acquire(OPTIONS.withMaxWait(s(30))));

        assertThat(signals.refusal().status()).isEqualTo(429);
        assertThat(signals.refusal().reason()).isEqualTo("quota-exceeded");
        assertThat(signals.refusal().detail()).isEqualTo("because of quota-exceeded");
        assertThat(network.sent()).hasSize(1);
    }

    @Test
    void a_refusal_that_is_not_temporary_is_an_error_at_once() {
        Signals<Lease> unknown =
                scene.subscribe(scene.client.acquire(LeaseOptions.of("c").withMaxWait(s(30))));
        assertThat(unknown.refusal().reason()).isEqualTo("unknown-pool");
        Signals<Lease> tooMany =
                scene.subscribe(scene.client.acquire(LeaseOptions.of("a", 3).withMaxWait(s(30))));
        assertThat(tooMany.refusal().reason()).isEqualTo("never-fits");
        assertThat(network.sent()).hasSize(2);
    }

    @Test
    void a_refusal_by_a_proxy_keeps_the_key() {
        network.next("POST", network.answering(ApiResponse.of(503, "1", "busy".getBytes(StandardCharsets.UTF_8))));
        network.next("POST", network.answering(ApiResponse.of(502, null, new byte[0])));
        Signals<Lease> signals = scene.subscribe(scene.client.acquire(OPTIONS.withMaxWait(s(30))));
        scene.passSeconds(10);

        assertThat(signals.value().isHeld()).isTrue();
        assertThat(network.sent().stream().map(sent -> sent.call().key()).distinct())
                .hasSize(1);

        network.next("POST", network.answering(ApiResponse.of(403, null, new byte[0])));
        Signals<Lease> forbidden = scene.subscribe(scene.client.acquire(OPTIONS));
        assertThat(forbidden.refusal().reason()).isEqualTo("http-403");
    }

    @Test
    void a_place_that_has_ended_meanwhile_is_asked_for_anew() {
        String other = scene.takeAll();
        Signals<Lease> signals =
                scene.subscribe(scene.client.acquire(OPTIONS.withTtl(s(2)).withMaxWait(s(60))));
        network.next("POST", network.requestLost());
        network.next("POST", network.answering(ApiResponse.of(503, "4", new byte[0])));
        scene.passSeconds(40);
        assertThat(scene.server.waiting()).isOne();
        scene.server.end(other);

        assertThat(signals.value().isHeld()).isTrue();
        assertThat(scene.keys()).hasSize(2);
    }

    @Test
    void a_refusal_while_the_acquisition_waits_already_keeps_the_key_until_it_has_ended() {
        String other = scene.takeAll();
        Signals<Lease> signals = scene.subscribe(scene.client.acquire(OPTIONS.withMaxWait(s(60))));
        network.next("POST", network.answering(ModelServer.problem(429, "quota-exceeded", "1")));
        scene.passSeconds(40);
        scene.server.end(other);

        assertThat(signals.value().isHeld()).isTrue();
        assertThat(scene.keys()).hasSize(1);
    }
}
