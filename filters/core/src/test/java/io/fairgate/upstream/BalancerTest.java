package io.fairgate.upstream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.fairgate.upstream.Balancer.Change;
import io.fairgate.upstream.Balancer.Limit;
import io.fairgate.upstream.Balancer.Use;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class BalancerTest {

    private static final HealthRules RULES = new HealthRules(3, Duration.ofSeconds(2), Duration.ofSeconds(10));
    /** As clocks may be: negative. */
    private long now = Long.MIN_VALUE / 2;

    private Balancer<String> balancer = balancer(Balance.LEAST_REQUESTS, Map.of("a", 1, "b", 1));

    @Test
    void requests_go_to_the_instance_with_the_fewest_in_flight_for_its_weight() {
        balancer = balancer(Balance.LEAST_REQUESTS, Map.of("small", 1, "large", 3));
        List<Use<String>> uses = IntStream.range(0, 40).mapToObj(i -> choose()).toList();
        assertThat(inFlight("small")).isBetween(9, 11);
        assertThat(inFlight("large")).isBetween(29, 31);
        uses.forEach(use -> balancer.end(use));
        uses.forEach(use -> balancer.end(use));
        assertThat(inFlight("small")).isZero();
        assertThat(inFlight("large")).isZero();
    }

    @Test
    void idle_instances_are_chosen_at_random_by_their_weights() {
        balancer = balancer(Balance.LEAST_REQUESTS, Map.of("small", 1, "large", 3));
        long ofSmall = IntStream.range(0, 1000)
                .mapToObj(i -> request(Outcome.ANSWERED))
                .filter("small"::equals)
                .count();
        assertThat(ofSmall).isBetween(200L, 300L);
    }

    @Test
    void in_turns_instances_get_requests_by_their_weight_however_long_these_take() {
        Map<String, Integer> weights = new LinkedHashMap<>();
        weights.put("a", 3);
        weights.put("b", 1);
        balancer = balancer(Balance.ROUND_ROBIN, weights);
        List<String> chosen =
                IntStream.range(0, 8).mapToObj(i -> choose().instance()).toList();
        assertThat(String.join("", chosen)).isEqualTo("abaaabaa");
    }

    @Test
    void an_instance_that_comes_back_does_not_catch_up_on_its_turns() {
        balancer = balancer(Balance.ROUND_ROBIN, Map.of("a", 1, "b", 1));
        balancer.setReady("a", false);
        IntStream.range(0, 100).forEach(i -> request(Outcome.ANSWERED));
        balancer.setReady("a", true);
        long ofBack = IntStream.range(0, 10)
                .mapToObj(i -> request(Outcome.ANSWERED))
                .filter("a"::equals)
                .count();
        assertThat(ofBack).isBetween(5L, 6L);
    }

    @Test
    void failures_in_a_row_put_an_instance_aside_until_its_probe_is_answered() {
        assertThat(fail("a", 2, Outcome.FAILED)).isEmpty();
        assertThat(fail("a", 1, Outcome.FAILED)).singleElement().satisfies(change -> {
            assertThat(change.instance()).isEqualTo("a");
            assertThat(change.failures()).isEqualTo(3);
            assertThat(change.aside()).isBetween(Duration.ofSeconds(2).toNanos(), millis(2400));
        });
        IntStream.range(0, 20)
                .forEach(i -> assertThat(request(Outcome.ANSWERED)).isEqualTo("b"));
        pass(2400);
        Use<String> probe = choose();
        assertThat(probe.instance()).isEqualTo("a");
        assertThat(request(Outcome.ANSWERED)).as("beside the probe").isEqualTo("b");
        assertThat(balancer.report(probe, Outcome.ANSWERED, now)).isEqualTo(new Change<>("a", 0, 3));
        assertThat(status("a").isInUse()).isTrue();
        balancer.end(probe);
        assertThat(choose().instance()).isIn("a", "b");
    }

    @Test
    void an_answer_ends_the_row_of_failures() {
        IntStream.range(0, 20).forEach(i -> {
            assertThat(fail("a", 2, Outcome.FAILED)).isEmpty();
            report("a", Outcome.ANSWERED);
        });
    }

    @Test
    void each_probe_that_fails_doubles_the_time_up_to_the_longest() {
        fail("a", 3, Outcome.UNREACHABLE);
        List<Long> seconds = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            pass(12_001);
            Use<String> probe = choose();
            assertThat(probe.instance()).isEqualTo("a");
            seconds.add(Objects.requireNonNull(balancer.report(probe, Outcome.UNREACHABLE, now))
                            .aside()
                    / 1_000_000_000);
            balancer.end(probe);
        }
        assertThat(seconds.get(0)).isEqualTo(4);
        assertThat(seconds.get(1)).isBetween(8L, 9L);
        assertThat(seconds.subList(2, 4)).allSatisfy(each -> assertThat(each).isBetween(10L, 12L));
    }

    @Test
    void a_probe_that_says_nothing_is_followed_by_another_one() {
        fail("a", 3, Outcome.FAILED);
        pass(3000);
        Use<String> left = choose();
        assertThat(left.instance()).isEqualTo("a");
        assertThat(leave(left)).isNull();
        assertThat(choose().instance()).isEqualTo("a");
    }

    @Test
    void an_instance_that_soon_fails_again_is_aside_for_longer() {
        fail("a", 3, Outcome.FAILED);
        pass(2400);
        report("a", Outcome.ANSWERED);
        pass(1999);
        assertThat(fail("a", 3, Outcome.FAILED).get(0).aside()).isGreaterThanOrEqualTo(millis(4000));
        pass(4800);
        report("a", Outcome.ANSWERED);
        pass(4001);
        assertThat(fail("a", 3, Outcome.FAILED).get(0).aside()).isLessThanOrEqualTo(millis(2400));
    }

    @Test
    void requests_from_before_a_change_do_not_count() {
        List<Use<String>> before = new ArrayList<>();
        IntStream.range(0, 20).forEach(i -> before.add(chooseInstance("a")));
        IntStream.range(0, 3).forEach(i -> balancer.report(before.get(i), Outcome.FAILED, now));
        assertThat(status("a").isInUse()).isFalse();
        assertThat(balancer.report(before.get(3), Outcome.ANSWERED, now)).isNull();
        assertThat(balancer.report(before.get(4), Outcome.FAILED, now)).isNull();
        pass(3000);
        report("a", Outcome.ANSWERED);
        assertThat(status("a").isInUse()).isTrue();
        IntStream.range(5, 20)
                .forEach(i -> assertThat(balancer.report(before.get(i), Outcome.FAILED, now))
                        .isNull());
    }

    @Test
    void the_last_instance_is_never_put_aside() {
        fail("a", 3, Outcome.UNREACHABLE);
        assertThat(fail("b", 100, Outcome.UNREACHABLE)).isEmpty();
        assertThat(status("b").isInUse()).isTrue();
    }

    @Test
    void errors_that_a_request_may_have_caused_put_at_most_half_of_the_instances_aside() {
        balancer = balancer(Balance.ROUND_ROBIN, Map.of("a", 1, "b", 1, "c", 1, "d", 1, "e", 1));
        List<String> all = List.of("a", "b", "c", "d", "e");
        all.forEach(instance -> fail(instance, 100, Outcome.FAILED));
        assertThat(all.stream().filter(instance -> !status(instance).isInUse())).hasSize(2);
        all.forEach(instance -> fail(instance, 100, Outcome.UNREACHABLE));
        assertThat(all.stream().filter(instance -> !status(instance).isInUse())).hasSize(4);
    }

    @Test
    void one_failure_with_a_connection_among_those_without_makes_the_row_one_of_errors() {
        balancer = balancer(Balance.ROUND_ROBIN, Map.of("a", 1, "b", 1, "c", 1));
        fail("a", 3, Outcome.FAILED);
        fail("b", 2, Outcome.UNREACHABLE);
        fail("b", 1, Outcome.FAILED);
        fail("b", 2, Outcome.UNREACHABLE);
        assertThat(status("b").isInUse()).isTrue();
        fail("b", 1, Outcome.UNREACHABLE);
        assertThat(status("b").isInUse()).isFalse();
    }

    @Test
    void a_failure_counts_like_a_request_in_flight_for_about_a_second() {
        fail("a", 2, Outcome.FAILED);
        IntStream.range(0, 2).forEach(i -> assertThat(choose().instance()).isEqualTo("b"));
        pass(5000);
        IntStream.range(0, 2).forEach(i -> assertThat(choose().instance()).isEqualTo("a"));
    }

    @Test
    void a_client_that_leaves_says_nothing_about_an_instance_that_answers_others() {
        List<Use<String>> left =
                IntStream.range(0, 20).mapToObj(i -> chooseInstance("a")).toList();
        pass(2000);
        report("a", Outcome.ANSWERED);
        pass(2000);
        left.forEach(each -> assertThat(leave(each)).isNull());
        for (int i = 0; i < 20; i++) {
            Use<String> impatient = chooseInstance("a");
            pass(999);
            assertThat(leave(impatient)).isNull();
        }
    }

    @Test
    void clients_that_leave_an_instance_that_answers_nothing_put_it_aside() {
        Change<String> change = null;
        for (int i = 0; i < 3; i++) {
            assertThat(change).isNull();
            Use<String> left = chooseInstance("a");
            pass(1000);
            change = leave(left);
        }
        assertThat(change).isNotNull();
    }

    @Test
    void a_second_attempt_goes_to_another_instance_and_to_one_that_is_aside_if_there_is_no_other() {
        assertThat(balancer.choose(Set.of("a", "b"), null, now)).isNull();
        IntStream.range(0, 10)
                .forEach(i -> assertThat(chooseAfter("a").instance()).isEqualTo("b"));
        fail("a", 3, Outcome.FAILED);
        assertThat(chooseAfter("b").instance()).isEqualTo("a");
    }

    @Test
    void a_second_attempt_is_no_probe_when_another_instance_is_in_use() {
        balancer = balancer(Balance.ROUND_ROBIN, Map.of("a", 1, "b", 1, "c", 1));
        fail("a", 3, Outcome.FAILED);
        pass(3000);
        assertThat(chooseAfter("b").instance()).isEqualTo("c");
        assertThat(choose().instance()).isEqualTo("a");
    }

    @Test
    void only_the_first_outcome_of_a_request_counts() {
        for (int i = 0; i < 10; i++) {
            Use<String> use = chooseInstance("a");
            balancer.report(use, Outcome.ANSWERED, now);
            balancer.report(use, Outcome.FAILED, now);
            balancer.end(use);
        }
        assertThat(status("a").failures()).isZero();
    }

    @Test
    void an_answer_to_a_second_attempt_brings_an_instance_back() {
        fail("a", 3, Outcome.FAILED);
        Use<String> second = chooseAfter("b");
        assertThat(balancer.report(second, Outcome.FAILED, now))
                .as("not a probe")
                .isNull();
        Use<String> other = chooseAfter("b");
        assertThat(balancer.report(other, Outcome.ANSWERED, now)).isEqualTo(new Change<>("a", 0, 4));
    }

    @Test
    void an_instance_that_is_not_ready_gets_requests_only_when_none_is() {
        balancer.setReady("a", false);
        balancer.setReady("unknown", false);
        IntStream.range(0, 20).forEach(i -> assertThat(choose().instance()).isEqualTo("b"));
        balancer.setReady("b", false);
        assertThat(choose().instance()).isEqualTo("a");
        assertThat(status("a").isInUse()).isFalse();
    }

    @Test
    void an_instance_that_is_not_ready_gets_no_probe() {
        fail("a", 3, Outcome.FAILED);
        balancer.setReady("a", false);
        pass(3000);
        assertThat(choose().instance()).isEqualTo("b");
        balancer.setReady("a", true);
        assertThat(choose().instance()).isEqualTo("a");
    }

    @Test
    void an_instance_gets_no_more_requests_than_its_weight_allows() {
        for (Balance balance : Balance.values()) {
            balancer = balancer(balance, Map.of("small", 1, "large", 2));
            List<Use<String>> uses = IntStream.range(0, 12)
                    .mapToObj(i -> Objects.requireNonNull(balancer.choose(Set.of(), new Limit("pool", 4), now)))
                    .toList();
            assertThat(inFlight("small")).isEqualTo(4);
            assertThat(inFlight("large")).isEqualTo(8);
            assertThat(balancer.choose(Set.of(), new Limit("pool", 4), now)).isNull();
            balancer.end(uses.get(0));
            assertThat(balancer.choose(Set.of(), new Limit("pool", 4), now)).isNotNull();
        }
    }

    @Test
    void the_requests_of_each_pool_have_a_limit_of_their_own_and_others_have_none() {
        Limit one = new Limit("one", 1);
        Limit two = new Limit("two", 2);
        IntStream.range(0, 2)
                .forEach(i -> assertThat(balancer.choose(Set.of(), one, now)).isNotNull());
        assertThat(balancer.choose(Set.of(), one, now)).isNull();
        IntStream.range(0, 4)
                .forEach(i -> assertThat(balancer.choose(Set.of(), two, now)).isNotNull());
        assertThat(balancer.choose(Set.of(), two, now)).isNull();
        IntStream.range(0, 20).forEach(i -> choose());
    }

    @Test
    void an_instance_without_room_gets_no_probe() {
        Limit limit = new Limit("pool", 1);
        Use<String> held = Objects.requireNonNull(balancer.choose(Set.of("b"), limit, now));
        fail("a", 3, Outcome.FAILED);
        pass(3000);
        assertThat(Objects.requireNonNull(balancer.choose(Set.of(), limit, now)).instance())
                .isEqualTo("b");
        balancer.end(held);
        assertThat(Objects.requireNonNull(balancer.choose(Set.of(), limit, now)).instance())
                .isEqualTo("a");
    }

    @Test
    void requests_at_an_instance_that_is_aside_are_known_by_pool() {
        Limit limit = new Limit("pool", 5);
        Use<String> held = Objects.requireNonNull(balancer.choose(Set.of("b"), limit, now));
        chooseInstance("a");
        assertThat(balancer.inFlightAside("pool")).isZero();
        fail("a", 3, Outcome.FAILED);
        assertThat(balancer.inFlightAside("pool")).isOne();
        assertThat(balancer.inFlightAside("other")).isZero();
        balancer.setReady("b", false);
        assertThat(balancer.inFlightAside("pool")).as("all are used").isZero();
        balancer.setReady("b", true);
        balancer.replace(Map.of("b", 1), Balance.LEAST_REQUESTS, RULES);
        assertThat(balancer.inFlightAside("pool")).as("of the settings before").isOne();
        balancer.end(held);
        assertThat(balancer.inFlightAside("pool")).isZero();
    }

    @Test
    void an_instance_that_comes_back_while_requests_are_in_flight_there_has_its_state() {
        Use<String> held = chooseInstance("a");
        fail("a", 3, Outcome.FAILED);
        balancer.replace(Map.of("b", 1), Balance.LEAST_REQUESTS, RULES);
        balancer.replace(Map.of("a", 1, "b", 1), Balance.LEAST_REQUESTS, RULES);
        assertThat(inFlight("a")).isOne();
        assertThat(status("a").isInUse()).isFalse();
        balancer.replace(Map.of("b", 1), Balance.LEAST_REQUESTS, RULES);
        balancer.end(held);
        balancer.replace(Map.of("a", 1, "b", 1), Balance.LEAST_REQUESTS, RULES);
        assertThat(status("a").isInUse()).as("as a new one").isTrue();
    }

    @Test
    void a_request_that_is_sent_over_another_connection_is_in_flight_again() {
        Use<String> use = chooseInstance("a");
        balancer.resume(use);
        assertThat(inFlight("a")).isOne();
        balancer.end(use);
        balancer.resume(use);
        assertThat(inFlight("a")).isOne();
        balancer.end(use);
        assertThat(inFlight("a")).isZero();
    }

    @Test
    void a_probe_that_waits_for_its_client_does_not_delay_the_next_one() {
        fail("a", 3, Outcome.FAILED);
        pass(3000);
        Use<String> slow = choose();
        assertThat(slow.instance()).isEqualTo("a");
        pass(999);
        assertThat(choose().instance()).isEqualTo("b");
        pass(1);
        Use<String> next = choose();
        assertThat(next.instance()).isEqualTo("a");
        assertThat(balancer.report(slow, Outcome.NONE, now)).isNull();
        assertThat(balancer.report(next, Outcome.ANSWERED, now)).isEqualTo(new Change<>("a", 0, 3));
    }

    @Test
    void what_a_client_does_is_never_a_failure() {
        for (int i = 0; i < 20; i++) {
            Use<String> use = chooseInstance("a");
            pass(60_000);
            assertThat(balancer.report(use, Outcome.NONE, now)).isNull();
            balancer.end(use);
        }
        for (int i = 0; i < 20; i++) {
            Use<String> upload = chooseInstance("a");
            pass(60_000);
            balancer.sent(upload, now);
            pass(999);
            assertThat(leave(upload))
                    .as("the time since the whole request was sent")
                    .isNull();
        }
        assertThat(status("a").failures()).isZero();
    }

    @Test
    void the_weight_in_use_is_that_of_the_instances_that_get_requests() {
        balancer = balancer(Balance.ROUND_ROBIN, Map.of("a", 1, "b", 2, "c", 4));
        assertThat(balancer.weightInUse()).isEqualTo(7);
        fail("a", 3, Outcome.UNREACHABLE);
        assertThat(balancer.weightInUse()).isEqualTo(6);
        balancer.setReady("b", false);
        assertThat(balancer.weightInUse()).isEqualTo(4);
        balancer.setReady("c", false);
        assertThat(balancer.weightInUse()).as("all are used").isEqualTo(7);
    }

    @Test
    void changed_settings_keep_the_state_of_instances_that_stay() {
        fail("a", 3, Outcome.FAILED);
        Use<String> use = choose();
        balancer.replace(Map.of("a", 2, "b", 1, "c", 1), Balance.LEAST_REQUESTS, RULES);
        assertThat(status("a").isInUse()).isFalse();
        assertThat(status("a").weight()).isEqualTo(2);
        assertThat(inFlight("b")).isEqualTo(1);
        balancer.replace(Map.of("a", 1), Balance.LEAST_REQUESTS, RULES);
        assertThat(choose().instance()).as("the only one, though it is aside").isEqualTo("a");
        balancer.end(use); // of an instance that is gone
        assertThatIllegalArgumentException()
                .isThrownBy(() -> balancer.replace(Map.of(), Balance.LEAST_REQUESTS, RULES));
    }

    private static Balancer<String> balancer(Balance balance, Map<String, Integer> weights) {
        return new Balancer<>(weights, balance, RULES, new Random(1));
    }

    private Use<String> choose() {
        return Objects.requireNonNull(balancer.choose(Set.of(), null, now));
    }

    private Use<String> chooseAfter(String tried) {
        return Objects.requireNonNull(balancer.choose(Set.of(tried), null, now));
    }

    /** A request to this instance, however busy it is. */
    private Use<String> chooseInstance(String instance) {
        Set<String> others = new java.util.HashSet<>(
                balancer.status(now).stream().map(InstanceStatus::instance).toList());
        others.remove(instance);
        return status(instance).asideNanos() == 0
                ? choose()
                : Objects.requireNonNull(balancer.choose(others, null, now));
    }

    private @Nullable Change<String> leave(Use<String> use) {
        balancer.end(use);
        return balancer.report(use, Outcome.LEFT, now);
    }

    private String request(Outcome outcome) {
        Use<String> use = choose();
        balancer.report(use, outcome, now);
        balancer.end(use);
        return use.instance();
    }

    private @Nullable Change<String> report(String instance, Outcome outcome) {
        Use<String> use = chooseInstance(instance);
        assertThat(use.instance()).isEqualTo(instance);
        Change<String> change = balancer.report(use, outcome, now);
        balancer.end(use);
        return change;
    }

    private List<Change<String>> fail(String instance, int times, Outcome outcome) {
        List<Change<String>> changes = new ArrayList<>();
        for (int i = 0; i < times; i++) {
            Change<String> change = report(instance, outcome);
            if (change != null) {
                changes.add(change);
            }
        }
        return changes;
    }

    private InstanceStatus<String> status(String instance) {
        return balancer.status(now).stream()
                .filter(status -> status.instance().equals(instance))
                .findFirst()
                .orElseThrow();
    }

    private int inFlight(String instance) {
        return status(instance).inFlight();
    }

    private void pass(long millis) {
        now += millis(millis);
    }

    private static long millis(long millis) {
        return millis * 1_000_000;
    }
}
