package io.fairgate.client;

import static io.fairgate.client.Scene.s;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.client.Scene.Signals;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** A lease is asked for: what is sent, how long it is waited for, and what becomes of answers that do not come. */
class AcquisitionTest {

    private static final LeaseOptions OPTIONS = LeaseOptions.of("a");

    private final Scene scene = new Scene();
    private final Network network = scene.network;

    @Test
    void nothing_is_sent_before_the_subscription_and_each_is_a_lease_of_its_own() {
        Mono<Lease> acquire = scene.client.acquire(OPTIONS);
        Mono<Integer> work = scene.client.withLease(OPTIONS, lease -> Mono.just(1));
        assertThat(network.sent()).isEmpty();

        Lease first = scene.subscribe(acquire).value();
        Lease second = scene.subscribe(acquire).value();
        assertThat(first.id()).isNotEqualTo(second.id());
        assertThat(second.token()).isGreaterThan(first.token());
        assertThat(work).isNotNull();
    }

    @Test
    void one_pool_and_several_are_asked_for_as_the_server_wants_it() {
        scene.acquire(OPTIONS.withTtl(s(1.5)).withHolder("h"));
        scene.acquire(LeaseOptions.ofAll(Map.of("b", 2, "a", 1)).withMaxWait(s(2)));

        ApiRequest one = scene.server.calls().get(0);
        assertThat(one.path()).isEqualTo("/v1/pools/a/leases");
        assertThat(one.body()).isEqualTo(Map.of("permits", 1, "ttl", "1500ms", "maxWait", "0ms", "holder", "h"));
        assertThat(one.key()).matches("[!-~]{1,128}");
        ApiRequest several = scene.server.calls().get(1);
        assertThat(several.path()).isEqualTo("/v1/leases:acquireAll");
        assertThat(several.body())
                .isEqualTo(
                        Map.of("pools", Map.of("a", 1, "b", 2), "ttl", "30000ms", "maxWait", "2000ms", "holder", ""));
    }

    // ---- waiting ----

    @Test
    void a_wait_longer_than_the_server_allows_continues_with_the_same_key() {
        String other = scene.takeAll();
        Signals<Lease> signals = scene.subscribe(scene.client.acquire(OPTIONS.withMaxWait(s(70))));
        scene.passSeconds(65);
        assertThat(signals.isOver()).isFalse();
        assertThat(scene.server.waiting()).isOne();
        scene.server.end(other);

        assertThat(signals.value().isHeld()).isTrue();
        assertThat(scene.keys()).hasSize(1);
        assertThat(scene.waits()).containsExactly("30000ms", "30000ms", "10000ms");
    }

    @Test
    void a_wait_that_is_over_leaves_the_queue_and_is_an_error() {
        scene.takeAll();
        Signals<Lease> signals = scene.subscribe(scene.client.acquire(OPTIONS.withMaxWait(s(40))));
        scene.passSeconds(39.9);
        assertThat(signals.isOver()).isFalse();
        scene.passSeconds(0.1);

        assertThat(signals.refusal().reason()).isEqualTo("max-wait");
        assertThat(signals.refusal().status()).isEqualTo(202);
        assertThat(scene.server.waiting()).isZero();
        assertThat(scene.time.timersLeft()).isZero();
    }

    @Test
    void an_acquisition_that_does_not_wait_is_refused_at_once() {
        scene.takeAll();
        Signals<Lease> signals = scene.subscribe(scene.client.acquire(OPTIONS));

        assertThat(signals.refusal().reason()).isEqualTo("max-wait");
        assertThat(scene.server.waiting()).isZero();
    }

    @Test
    void a_server_that_does_not_wait_is_not_asked_as_fast_as_it_answers() {
        scene.takeAll();
        network.always(call -> sent -> scene.server.handle(new ApiRequest(
                sent.method(),
                sent.path(),
                sent.key(),
                sent.key() == null
                        ? sent.body()
                        : Map.of("permits", 1, "ttl", "30000ms", "maxWait", "0ms", "holder", ""),
                sent.waits(),
                sent.timeout())));
        Signals<Lease> signals = scene.subscribe(scene.client.acquire(OPTIONS.withMaxWait(s(10))));
        scene.passSeconds(10);

        assertThat(signals.refusal().reason()).isEqualTo("max-wait");
        assertThat(network.sentAt("POST")).hasSizeBetween(50, 100);
        assertThat(scene.keys()).hasSize(1);
    }

    @Test
    void a_grant_that_was_long_on_its_way_is_asked_after_before_it_is_trusted() {
        String other = scene.takeAll();
        Signals<Lease> signals =
                scene.subscribe(scene.client.acquire(OPTIONS.withTtl(s(6)).withMaxWait(s(30))));
        scene.passSeconds(20);
        scene.server.end(other);

        // Counted from the sending of the first call it would be over since second 6.
        Lease lease = signals.value();
        assertThat(lease.isHeld()).isTrue();
        assertThat(scene.waits()).containsExactly("30000ms", "0ms");
        assertThat(scene.keys()).hasSize(1);
        network.always(call -> network.requestLost());
        scene.passSeconds(5.39);
        assertThat(lease.isHeld()).isTrue();
        scene.passSeconds(0.01);
        assertThat(lease.isHeld()).isFalse();
    }

    @Test
    void that_second_look_may_fail_once_though_the_wait_is_over() {
        String other = scene.takeAll();
        Signals<Lease> signals =
                scene.subscribe(scene.client.acquire(OPTIONS.withTtl(s(6)).withMaxWait(s(20))));
        scene.passSeconds(19.999);
        network.next("POST", network.requestLost());
        scene.server.end(other);
        scene.passSeconds(1);

        assertThat(signals.value().isHeld()).isTrue();
    }

    @Test
    void an_answer_that_comes_when_the_lease_is_over_is_none() {
        network.next("POST", network.delayed(s(0), s(2)));
        Signals<Lease> signals =
                scene.subscribe(scene.client.acquire(OPTIONS.withTtl(s(2)).withMaxWait(s(10))));
        scene.passSeconds(10);

        assertThat(signals.value().isHeld()).isTrue();
        assertThat(scene.keys()).hasSize(2);
    }

    // ---- answers that do not come ----

    @Test
    void a_lost_answer_costs_neither_the_place_nor_a_permit() {
        network.next("POST", network.answerLost(), network.requestLost(), network.silent());
        Signals<Lease> signals =
                scene.subscribe(scene.client.acquire(OPTIONS.withTtl(s(60)).withMaxWait(s(60))));
        scene.passSeconds(40);

        assertThat(signals.value().isHeld()).isTrue();
        assertThat(scene.keys()).hasSize(1);
        assertThat(scene.server.held()).isOne();
        // After 100, 200 and 400 ms, each a tenth longer by chance; the third call had 30 s, and 5 more for the answer.
        assertThat(network.sentAt("POST")).containsExactly(s(0), s(0.11), s(0.33), s(35.77));
    }

    @Test
    void a_server_that_cannot_be_reached_is_an_error_when_the_time_is_over() {
        network.always(call -> network.unreachable());
        Signals<Lease> signals = scene.subscribe(scene.client.acquire(OPTIONS.withMaxWait(s(3))));
        scene.passSeconds(3);

        assertThat(signals.refusal().reason()).isEqualTo("unreachable");
        assertThat(signals.refusal().status()).isZero();
        assertThat(signals.refusal()).hasMessageContaining("refused").hasStackTraceContaining("refused");
        assertThat(network.sentAt("POST")).hasSizeBetween(4, 6);
        assertThat(network.sentAt("DELETE")).as("nothing was opened").isEmpty();
    }

    @Test
    void a_lease_that_a_lost_answer_may_have_opened_is_released_before_the_error() {
        network.next("POST", network.answerLost());
        Signals<Lease> signals = scene.subscribe(scene.client.acquire(OPTIONS));

        assertThat(signals.refusal().reason()).isEqualTo("unreachable");
        assertThat(scene.keys()).hasSize(1);
        assertThat(network.sentAt("DELETE")).hasSize(1);
        scene.assertNothingLeft();
    }

    @Test
    void an_answer_that_cannot_be_read_is_none() {
        network.next(
                "POST",
                network.answering(ApiResponse.of(201, null, "<html>".getBytes(StandardCharsets.UTF_8))),
                network.answering(ApiResponse.of(201, null, "{\"id\":\"../pools\"}".getBytes(StandardCharsets.UTF_8))),
                network.answering(ApiResponse.of(
                        201,
                        null,
                        "{\"id\":\"%032d\",\"state\":\"held\"}".formatted(7).getBytes(StandardCharsets.UTF_8))));
        Signals<Lease> signals = scene.subscribe(scene.client.acquire(OPTIONS.withMaxWait(s(5))));
        scene.passSeconds(5);

        assertThat(signals.value().isHeld()).isTrue();
    }
}
