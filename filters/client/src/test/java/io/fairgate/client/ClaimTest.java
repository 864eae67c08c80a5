package io.fairgate.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.client.Scene.Told;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

class ClaimTest {

    private static final LeaseOptions OPTIONS = LeaseOptions.of("a");

    private final Scene scene = new Scene();
    private final Network network = scene.network;

    private static Duration s(double seconds) {
        return Duration.ofMillis(Math.round(seconds * 1000));
    }

    private List<String> keys() {
        return scene.server.calls("POST").stream()
                .map(call -> Objects.requireNonNull(call.key()))
                .distinct()
                .toList();
    }

    private List<Object> waits() {
        return scene.server.calls("POST").stream()
                .map(call -> Objects.requireNonNull(call.body()).get("maxWait"))
                .toList();
    }

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

        Call one = scene.server.calls().get(0);
        assertThat(one.path()).isEqualTo("/v1/pools/a/leases");
        assertThat(one.body()).isEqualTo(Map.of("permits", 1, "ttl", "1500ms", "maxWait", "0ms", "holder", "h"));
        assertThat(one.key()).matches("[!-~]{1,128}");
        Call several = scene.server.calls().get(1);
        assertThat(several.path()).isEqualTo("/v1/leases:acquireAll");
        assertThat(several.body())
                .isEqualTo(
                        Map.of("pools", Map.of("a", 1, "b", 2), "ttl", "30000ms", "maxWait", "2000ms", "holder", ""));
    }

    // ---- waiting ----

    @Test
    void who_may_wait_for_longer_than_the_server_lets_it_asks_again_with_the_same_key() {
        String other = scene.takeAll();
        Told<Lease> told = scene.subscribe(scene.client.acquire(OPTIONS.withMaxWait(s(70))));
        scene.passSeconds(65);
        assertThat(told.isOver()).isFalse();
        assertThat(scene.server.waiting()).isOne();
        scene.server.end(other);

        assertThat(told.value().isHeld()).isTrue();
        assertThat(keys()).hasSize(1);
        assertThat(waits()).containsExactly("30000ms", "30000ms", "10000ms");
    }

    @Test
    void who_has_waited_for_long_enough_leaves_the_queue_and_is_told_so() {
        scene.takeAll();
        Told<Lease> told = scene.subscribe(scene.client.acquire(OPTIONS.withMaxWait(s(40))));
        scene.passSeconds(39.9);
        assertThat(told.isOver()).isFalse();
        scene.passSeconds(0.1);

        assertThat(told.refusal().reason()).isEqualTo("max-wait");
        assertThat(told.refusal().status()).isEqualTo(202);
        assertThat(scene.server.waiting()).isZero();
        assertThat(scene.time.timersLeft()).isZero();
    }

    @Test
    void who_does_not_want_to_wait_is_told_at_once() {
        scene.takeAll();
        Told<Lease> told = scene.subscribe(scene.client.acquire(OPTIONS));

        assertThat(told.refusal().reason()).isEqualTo("max-wait");
        assertThat(scene.server.waiting()).isZero();
    }

    @Test
    void a_server_that_does_not_wait_is_not_asked_as_fast_as_it_answers() {
        scene.takeAll();
        network.always(call -> sent -> scene.server.handle(new Call(
                sent.method(),
                sent.path(),
                sent.key(),
                sent.key() == null
                        ? sent.body()
                        : Map.of("permits", 1, "ttl", "30000ms", "maxWait", "0ms", "holder", ""),
                sent.patience(),
                sent.within())));
        Told<Lease> told = scene.subscribe(scene.client.acquire(OPTIONS.withMaxWait(s(10))));
        scene.passSeconds(10);

        assertThat(told.refusal().reason()).isEqualTo("max-wait");
        assertThat(network.sentAt("POST")).hasSizeBetween(50, 100);
        assertThat(keys()).hasSize(1);
    }

    @Test
    void a_grant_that_was_long_on_its_way_is_asked_after_before_it_is_trusted() {
        String other = scene.takeAll();
        Told<Lease> told =
                scene.subscribe(scene.client.acquire(OPTIONS.withTtl(s(6)).withMaxWait(s(30))));
        scene.passSeconds(20);
        scene.server.end(other);

        // Counted from the sending of the first call it would be over since second 6.
        Lease lease = told.value();
        assertThat(lease.isHeld()).isTrue();
        assertThat(waits()).containsExactly("30000ms", "0ms");
        assertThat(keys()).hasSize(1);
        network.always(call -> network.requestLost());
        scene.passSeconds(5.39);
        assertThat(lease.isHeld()).isTrue();
        scene.passSeconds(0.01);
        assertThat(lease.isHeld()).isFalse();
    }

    @Test
    void that_second_look_may_fail_once_though_the_wait_is_over() {
        String other = scene.takeAll();
        Told<Lease> told =
                scene.subscribe(scene.client.acquire(OPTIONS.withTtl(s(6)).withMaxWait(s(20))));
        scene.passSeconds(19.999);
        network.next("POST", network.requestLost());
        scene.server.end(other);
        scene.passSeconds(1);

        assertThat(told.value().isHeld()).isTrue();
    }

    @Test
    void an_answer_that_comes_when_the_lease_is_over_is_none() {
        network.next("POST", network.delayed(s(0), s(2)));
        Told<Lease> told =
                scene.subscribe(scene.client.acquire(OPTIONS.withTtl(s(2)).withMaxWait(s(10))));
        scene.passSeconds(10);

        assertThat(told.value().isHeld()).isTrue();
        assertThat(keys()).hasSize(2);
    }

    // ---- answers that do not come ----

    @Test
    void a_lost_answer_costs_neither_the_place_nor_a_permit() {
        network.next("POST", network.answerLost(), network.requestLost(), network.silent());
        Told<Lease> told =
                scene.subscribe(scene.client.acquire(OPTIONS.withTtl(s(60)).withMaxWait(s(60))));
        scene.passSeconds(40);

        assertThat(told.value().isHeld()).isTrue();
        assertThat(keys()).hasSize(1);
        assertThat(scene.server.held()).isOne();
        // After 100, 200 and 400 ms, each a tenth longer by chance; the third call had 30 s, and 5 more for the answer.
        assertThat(network.sentAt("POST")).containsExactly(s(0), s(0.11), s(0.33), s(35.77));
    }

    @Test
    void a_server_that_cannot_be_reached_is_an_error_when_the_time_is_over() {
        network.always(call -> network.unreachable());
        Told<Lease> told = scene.subscribe(scene.client.acquire(OPTIONS.withMaxWait(s(3))));
        scene.passSeconds(3);

        assertThat(told.refusal().reason()).isEqualTo("unreachable");
        assertThat(told.refusal().status()).isZero();
        assertThat(told.refusal()).hasMessageContaining("refused").hasStackTraceContaining("refused");
        assertThat(network.sentAt("POST")).hasSizeBetween(4, 6);
        assertThat(network.sentAt("DELETE")).as("nothing was opened").isEmpty();
    }

    @Test
    void what_a_lost_answer_may_have_opened_is_given_back_before_the_error() {
        network.next("POST", network.answerLost());
        Told<Lease> told = scene.subscribe(scene.client.acquire(OPTIONS));

        assertThat(told.refusal().reason()).isEqualTo("unreachable");
        assertThat(keys()).hasSize(1);
        assertThat(network.sentAt("DELETE")).hasSize(1);
        scene.assertNothingLeft();
    }

    @Test
    void an_answer_that_cannot_be_read_is_none() {
        network.next(
                "POST",
                network.answering(Answer.of(201, null, "<html>".getBytes(StandardCharsets.UTF_8))),
                network.answering(Answer.of(201, null, "{\"id\":\"../pools\"}".getBytes(StandardCharsets.UTF_8))),
                network.answering(Answer.of(
                        201,
                        null,
                        "{\"id\":\"%032d\",\"state\":\"held\"}".formatted(7).getBytes(StandardCharsets.UTF_8))));
        Told<Lease> told = scene.subscribe(scene.client.acquire(OPTIONS.withMaxWait(s(5))));
        scene.passSeconds(5);

        assertThat(told.value().isHeld()).isTrue();
    }

    // ---- refusals ----

    @Test
    void what_is_refused_for_now_is_asked_for_again_when_the_server_says_so() {
        network.next(
                "POST",
                network.answering(ModelServer.problem(429, "quota-exceeded", "2")),
                network.answering(ModelServer.problem(503, "max-wait", "1")),
                network.answering(ModelServer.problem(503, "max-wait")));
        Told<Lease> told = scene.subscribe(scene.client.acquire(OPTIONS.withMaxWait(s(30))));
        scene.passSeconds(10);

        assertThat(told.value().isHeld()).isTrue();
        assertThat(network.sentAt("POST")).containsExactly(s(0), s(2.2), s(3.3), s(3.74));
        assertThat(network.sent().stream().map(sent -> sent.call().key()).distinct())
                .as("a refused key has ended")
                .hasSize(4);
    }

    @Test
    void a_refusal_that_outlasts_the_wait_is_told_at_once() {
        network.next("POST", network.answering(ModelServer.problem(429, "quota-exceeded", "60")));
        Told<Lease> told = scene.subscribe(scene.client.acquire(OPTIONS.withMaxWait(s(30))));

        assertThat(told.refusal().status()).isEqualTo(429);
        assertThat(told.refusal().reason()).isEqualTo("quota-exceeded");
        assertThat(told.refusal().detail()).isEqualTo("because of quota-exceeded");
        assertThat(network.sent()).hasSize(1);
    }

    @Test
    void what_will_not_get_better_is_told_at_once() {
        Told<Lease> unknown =
                scene.subscribe(scene.client.acquire(LeaseOptions.of("c").withMaxWait(s(30))));
        assertThat(unknown.refusal().reason()).isEqualTo("unknown-pool");
        Told<Lease> tooMany =
                scene.subscribe(scene.client.acquire(LeaseOptions.of("a", 3).withMaxWait(s(30))));
        assertThat(tooMany.refusal().reason()).isEqualTo("never-fits");
        assertThat(network.sent()).hasSize(2);
    }

    @Test
    void what_a_proxy_says_keeps_the_key() {
        network.next("POST", network.answering(Answer.of(503, "1", "busy".getBytes(StandardCharsets.UTF_8))));
        network.next("POST", network.answering(Answer.of(502, null, new byte[0])));
        Told<Lease> told = scene.subscribe(scene.client.acquire(OPTIONS.withMaxWait(s(30))));
        scene.passSeconds(10);

        assertThat(told.value().isHeld()).isTrue();
        assertThat(network.sent().stream().map(sent -> sent.call().key()).distinct())
                .hasSize(1);

        network.next("POST", network.answering(Answer.of(403, null, new byte[0])));
        Told<Lease> forbidden = scene.subscribe(scene.client.acquire(OPTIONS));
        assertThat(forbidden.refusal().reason()).isEqualTo("http-403");
    }

    @Test
    void a_place_that_has_ended_meanwhile_is_asked_for_anew() {
        String other = scene.takeAll();
        Told<Lease> told =
                scene.subscribe(scene.client.acquire(OPTIONS.withTtl(s(2)).withMaxWait(s(60))));
        network.next("POST", network.requestLost());
        network.next("POST", network.answering(Answer.of(503, "4", new byte[0])));
        scene.passSeconds(40);
        assertThat(scene.server.waiting()).isOne();
        scene.server.end(other);

        assertThat(told.value().isHeld()).isTrue();
        assertThat(keys()).hasSize(2);
    }

    @Test
    void a_refusal_of_who_waits_already_keeps_the_key_until_it_has_ended() {
        String other = scene.takeAll();
        Told<Lease> told = scene.subscribe(scene.client.acquire(OPTIONS.withMaxWait(s(60))));
        network.next("POST", network.answering(ModelServer.problem(429, "quota-exceeded", "1")));
        scene.passSeconds(40);
        scene.server.end(other);

        assertThat(told.value().isHeld()).isTrue();
        assertThat(keys()).hasSize(1);
    }

    // ---- cancellation ----

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
        assertThat(waits()).containsExactly("30000ms", "0ms");
        assertThat(keys()).hasSize(1);
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
        assertThat(keys()).hasSize(1);
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
