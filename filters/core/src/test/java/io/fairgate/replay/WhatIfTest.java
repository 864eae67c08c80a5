package io.fairgate.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.RefusalReason;
import io.fairgate.replay.Recording.Recorded;
import io.fairgate.replay.Traffic.Draw;
import io.fairgate.replay.WhatIf.Comparison;
import io.fairgate.replay.WhatIf.Rules;
import io.fairgate.shares.ShareSettings;
import io.fairgate.shares.TenantShares;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The comparison is compared with the truth: with the same clients under the other rules. */
class WhatIfTest {

    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final TenantId NOISY = TenantId.of("noisy");
    private static final TenantId QUIET = TenantId.of("quiet");

    private static final PoolSettings EIGHT = PoolSettings.ofPermits(8).withMaxWait(Duration.ofSeconds(10));
    private static final Rules EQUAL = rules(EIGHT, 1, 1);

    /** From an answer to the next request. */
    private static final Draw TURN = Draw.between(0.2, 3);

    private static final Draw HOLD = Draw.between(48, 62);

    private static Rules rules(PoolSettings pool, double noisy, double quiet) {
        return new Rules(
                pool,
                TenantShares.EQUAL
                        .withMember(NOISY, ShareSettings.ofWeight(noisy))
                        .withMember(QUIET, ShareSettings.ofWeight(quiet)));
    }

    private static Traffic traffic() {
        return new Traffic(MINUTE);
    }

    private static Traffic demo() {
        return traffic().clients("noisy", 64, TURN, HOLD).clients("quiet", 2, TURN, HOLD);
    }

    private static Traffic twoBacklogs() {
        return traffic().clients("noisy", 64, TURN, HOLD).clients("quiet", 16, TURN, HOLD);
    }

    private static Traffic waves() {
        Traffic traffic = traffic().clients("quiet", 16, TURN, HOLD);
        for (int second = 0; second < 60; second += 5) {
            traffic.clients("noisy", 64, TURN, HOLD, 1_000 * second, 1_000 * (second + 2));
        }
        return traffic;
    }

    /** What the tenants get under other rules in the time of the recording. */
    private static Map<TenantId, TenantUse> truth(Traffic traffic, Rules rules, Recorded recorded) {
        return Tally.of(new Recorded(
                recorded.from(), recorded.to(), traffic.under(rules).visits()));
    }

    private static Comparison of(TenantId tenant, List<Comparison> all) {
        return all.stream()
                .filter(one -> one.tenant().equals(tenant))
                .findFirst()
                .orElseThrow();
    }

    /** Weights, and where the clients ask for more than they get, sizes: the traffic, the rules, other rules. */
    static Stream<Arguments> predictions() {
        Rules three = rules(EIGHT, 1, 3);
        return Stream.of(
                arguments("the demo, which asks for less than its share", demo(), EQUAL, rules(EIGHT, 3, 1)),
                arguments("the demo, which asks for more", demo(), EQUAL, rules(EIGHT, 9, 1)),
                arguments("twice the permits", demo(), EQUAL, rules(EIGHT.withPermits(16), 1, 1)),
                arguments("more permits than clients", demo(), EQUAL, rules(EIGHT.withPermits(100), 1, 1)),
                arguments("fewer permits than clients", demo(), rules(EIGHT.withPermits(100), 1, 1), EQUAL),
                arguments("two backlogs", twoBacklogs(), EQUAL, three),
                arguments(
                        "holds of 10 ms and of 3 s",
                        traffic()
                                .clients("noisy", 64, TURN, Draw.millis(10))
                                .clients("quiet", 16, TURN, Draw.millis(3000)),
                        EQUAL,
                        three),
                arguments(
                        "a mixture of holds",
                        traffic()
                                .clients("noisy", 64, TURN, HOLD.or(0.05, Draw.millis(2000)))
                                .clients("quiet", 16, TURN, Draw.exponential(30)),
                        EQUAL,
                        three),
                arguments(
                        "clients that think",
                        traffic()
                                .clients("noisy", 64, Draw.exponential(100), HOLD)
                                .clients("quiet", 16, Draw.exponential(20), HOLD),
                        EQUAL,
                        three),
                arguments(
                        "hundreds of clients",
                        traffic()
                                .clients("noisy", 600, TURN, Draw.exponential(300))
                                .clients("quiet", 200, TURN, Draw.exponential(300)),
                        rules(EIGHT.withPermits(100), 1, 1),
                        rules(EIGHT.withPermits(100), 3, 1)),
                arguments(
                        "clients that come and go",
                        traffic()
                                .clients("noisy", 64, TURN, HOLD, 20_000, 40_000)
                                .clients("quiet", 16, TURN, HOLD, 0, 45_000),
                        EQUAL,
                        rules(EIGHT, 3, 1)),
                arguments("clients that come for two seconds, again and again", waves(), EQUAL, rules(EIGHT, 3, 1)),
                arguments(
                        "clients that leave",
                        traffic()
                                .impatient("noisy", 64, TURN, HOLD, Draw.millis(300))
                                .clients("quiet", 16, TURN, HOLD),
                        EQUAL,
                        rules(EIGHT, 3, 1)),
                arguments(
                        "clients that are refused",
                        twoBacklogs(),
                        rules(EIGHT.withMaxWait(Duration.ofMillis(300)), 1, 1),
                        rules(EIGHT.withMaxWait(Duration.ofMillis(300)), 3, 1)),
                arguments(
                        "holds without an end",
                        traffic().clients("noisy", 64, TURN, HOLD).clients("quiet", 4, TURN, Draw.millis(1e9)),
                        rules(EIGHT.withMaxHold(Duration.ofHours(1)), 1, 1),
                        rules(EIGHT.withMaxHold(Duration.ofHours(1)).withPermits(6), 1, 1)),
                arguments(
                        "requests that come by themselves, more than the pool can serve",
                        traffic().arrivals("noisy", Draw.exponential(4), HOLD).clients("quiet", 16, TURN, HOLD),
                        EQUAL,
                        three),
                arguments(
                        "requests at a constant rate",
                        traffic()
                                .arrivals("noisy", Draw.millis(8), Draw.millis(50))
                                .clients("quiet", 2, TURN, HOLD),
                        EQUAL,
                        rules(EIGHT.withPermits(4), 1, 1)),
                arguments(
                        "a thousand requests a second that come by themselves",
                        traffic()
                                .arrivals("noisy", Draw.exponential(1), Draw.exponential(50))
                                .clients("quiet", 2, TURN, HOLD),
                        rules(EIGHT.withPermits(70), 1, 1),
                        rules(EIGHT.withPermits(40), 1, 1)));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("predictions")
    void permit_time_under_other_rules_is_predicted_within_5_percent(
            String name, Traffic traffic, Rules inForce, Rules candidate) {
        Recorded recorded = traffic.under(inForce);
        Map<TenantId, TenantUse> truth = truth(traffic, candidate, recorded);
        List<Comparison> all = WhatIf.compare(recorded, inForce, candidate);
        for (TenantId tenant : List.of(NOISY, QUIET)) {
            Comparison one = of(tenant, all);
            double recordedSeconds = one.recorded().permitSeconds();
            assertThat(one.inForce().permitSeconds())
                    .as("%s under the rules in force", tenant)
                    .isCloseTo(recordedSeconds, within(recordedSeconds / 100));
            double requests = one.recorded().requests() + one.recorded().waiting();
            assertThat((double) one.inForce().requests() + one.inForce().waiting())
                    .as("%s under the rules in force", tenant)
                    .isCloseTo(requests, within(requests / 8));
            double trueSeconds = truth.getOrDefault(tenant, Tally.NOTHING).permitSeconds();
            assertThat(one.candidate().permitSeconds())
                    .as("%s under the other rules", tenant)
                    .isCloseTo(trueSeconds, within(trueSeconds / 20));
        }
    }

    /** Where the recording does not tell whether clients wait for answers; the truth may be at either end. */
    static Stream<Arguments> unclear() {
        Stream<Arguments> openNearTheLimit = Stream.of(0.8, 0.95, 1.0, 1.06, 1.12, 1.2)
                .map(load -> arguments(
                        "random requests for %.2f of the pool".formatted(load),
                        traffic().arrivals("noisy", Draw.exponential(55.0 / 8 / load), HOLD),
                        rules(EIGHT.withMaxWait(Duration.ofSeconds(2)), 1, 1),
                        rules(EIGHT.withMaxWait(Duration.ofSeconds(2)).withPermits(16), 1, 1)));
        Stream<Arguments> others = Stream.of(
                arguments(
                        "random requests beside clients, and other weights",
                        traffic().arrivals("noisy", Draw.exponential(13), HOLD).clients("quiet", 16, TURN, HOLD),
                        EQUAL,
                        rules(EIGHT, 3, 1)),
                arguments(
                        "requests at an irregular rate that a large pool serves at once",
                        traffic().arrivals("noisy", Draw.between(0, 20), Draw.millis(500)),
                        rules(EIGHT.withPermits(49), 1, 1),
                        rules(EIGHT.withPermits(100), 1, 1)),
                arguments(
                        "a hundred devices that ask each second",
                        devices(),
                        rules(EIGHT.withPermits(100).withMaxWait(Duration.ofSeconds(2)), 1, 1),
                        rules(EIGHT.withPermits(40).withMaxWait(Duration.ofSeconds(2)), 1, 1)),
                arguments(
                        "clients of which most are refused",
                        traffic().clients("noisy", 64, TURN, HOLD),
                        rules(EIGHT.withMaxWait(Duration.ofMillis(100)), 1, 1),
                        rules(EIGHT.withMaxWait(Duration.ofMillis(100)).withPermits(16), 1, 1)),
                arguments(
                        "a tenant with clients and random requests",
                        traffic()
                                .clients("noisy", 20, TURN, HOLD)
                                .arrivals("noisy", Draw.exponential(10), HOLD)
                                .clients("quiet", 16, TURN, HOLD),
                        EQUAL,
                        rules(EIGHT.withPermits(16), 1, 1)));
        return Stream.concat(openNearTheLimit, others);
    }

    /** Each one asks at its own moment of each second. */
    private static Traffic devices() {
        Traffic traffic = traffic();
        for (int device = 0; device < 100; device++) {
            traffic.arrivals("noisy", Draw.millis(1_000), Draw.millis(800), 10.0 * device);
        }
        return traffic;
    }

    @Tag("long")
    @ParameterizedTest(name = "{0}")
    @MethodSource("unclear")
    void permit_time_is_between_both_predictions_where_the_recording_does_not_tell(
            String name, Traffic traffic, Rules inForce, Rules candidate) {
        Recorded recorded = traffic.under(inForce);
        Map<TenantId, TenantUse> truth = truth(traffic, candidate, recorded);
        for (Comparison one : WhatIf.compare(recorded, inForce, candidate)) {
            TenantUse other = one.otherwise() == null ? one.candidate() : one.otherwise();
            double least = Math.min(one.candidate().permitSeconds(), other.permitSeconds());
            double most = Math.max(one.candidate().permitSeconds(), other.permitSeconds());
            double expected = truth.getOrDefault(one.tenant(), Tally.NOTHING).permitSeconds();
            assertThat(expected)
                    .as("%s, whose clients %s", one.tenant(), one.clients())
                    .isBetween(least - expected / 20, most + expected / 20);
        }
    }

    @Test
    void waits_are_predicted_too_where_no_request_is_refused() {
        Traffic traffic = twoBacklogs();
        Rules candidate = rules(EIGHT, 1, 3);
        Recorded recorded = traffic.under(EQUAL);
        Map<TenantId, TenantUse> truth = truth(traffic, candidate, recorded);
        List<Comparison> all = WhatIf.compare(recorded, EQUAL, candidate);
        for (TenantId tenant : List.of(NOISY, QUIET)) {
            assertThat(of(tenant, all).otherwise()).isNull();
            double expected =
                    truth.getOrDefault(tenant, Tally.NOTHING).waitP50().toMillis();
            assertThat((double) of(tenant, all).candidate().waitP50().toMillis())
                    .isCloseTo(expected, within(expected / 20));
            assertThat(of(tenant, all).recorded().waitP50().toMillis()).isNotCloseTo((long) expected, within(50L));
        }
    }

    @Test
    void refusals_are_predicted_for_requests_that_come_by_themselves() {
        Traffic traffic = traffic().arrivals("noisy", Draw.exponential(6), HOLD);
        Rules smaller = rules(EIGHT.withMaxWait(Duration.ofMillis(500)), 1, 1);
        Recorded recorded = traffic.under(EQUAL);
        TenantUse truth = truth(traffic, smaller, recorded).getOrDefault(NOISY, Tally.NOTHING);
        Comparison noisy = of(NOISY, WhatIf.compare(recorded, EQUAL, smaller));
        assertThat(noisy.clients()).isEqualTo(ClientKind.COME_ANYWAY);
        double refused = truth.refused().getOrDefault(RefusalReason.MAX_WAIT, 0L);
        assertThat((double) noisy.candidate().refused().getOrDefault(RefusalReason.MAX_WAIT, 0L))
                .isCloseTo(refused, within(refused / 20));
        assertThat(refused).isGreaterThan(500);
    }

    @Test
    void clients_that_a_candidate_refuses_come_back_after_a_second() {
        Rules shorter = rules(EIGHT.withMaxWait(Duration.ofMillis(300)), 1, 1);
        Recorded recorded = twoBacklogs().under(EQUAL);
        Comparison noisy = of(NOISY, WhatIf.compare(recorded, EQUAL, shorter));
        TenantUse truth = truth(twoBacklogs(), shorter, recorded).getOrDefault(NOISY, Tally.NOTHING);
        assertThat((double) noisy.candidate().requests())
                .isCloseTo((double) truth.requests(), within(truth.requests() / 20.0));
    }

    @Test
    void clients_are_told_from_requests_that_come_by_themselves() {
        Recorded recorded = traffic()
                .clients("noisy", 64, TURN, HOLD)
                .arrivals("quiet", Draw.exponential(20), HOLD)
                .under(EQUAL);
        List<Comparison> all = WhatIf.compare(recorded, EQUAL, EQUAL);
        assertThat(of(NOISY, all).clients()).isEqualTo(ClientKind.WAIT_FOR_ANSWERS);
        assertThat(of(QUIET, all).clients()).isEqualTo(ClientKind.COME_ANYWAY);
    }

    @Test
    void a_longest_hold_of_the_candidate_ends_holds() {
        Traffic traffic = traffic().clients("quiet", 1, TURN, Draw.millis(1000));
        Rules shorter = rules(EIGHT.withMaxHold(Duration.ofMillis(100)), 1, 1);
        Comparison quiet = of(QUIET, WhatIf.compare(traffic.under(EQUAL), EQUAL, shorter));
        assertThat(quiet.recorded().granted()).isBetween(58L, 61L);
        assertThat(quiet.candidate().granted()).isBetween(560L, 600L);
    }

    @Test
    void a_hold_beyond_the_bound_of_the_pool_had_a_bound_of_its_own() {
        Traffic traffic = traffic().clients("quiet", 1, TURN, Draw.millis(1000));
        Rules then = rules(EIGHT.withMaxHold(Duration.ofMillis(500)), 1, 1);
        Rules shorter = rules(EIGHT.withMaxHold(Duration.ofMillis(100)), 1, 1);
        Comparison quiet = of(QUIET, WhatIf.compare(traffic.under(EQUAL), then, shorter));
        assertThat(quiet.candidate().granted()).isBetween(58L, 61L);
    }

    @Test
    void a_replay_with_too_many_requests_is_refused() {
        Traffic traffic = new Traffic(Duration.ofSeconds(5)).clients("noisy", 64, Draw.millis(0), Draw.millis(0.02));
        Recorded recorded = traffic.under(EQUAL, 10_000_000);
        Rules more = rules(EIGHT.withPermits(1000), 1, 1);
        assertThatThrownBy(() -> WhatIf.compare(recorded, EQUAL, more))
                .isInstanceOf(TooManyRequestsException.class)
                .hasMessageContaining("2000000");
    }

    /** Times in seconds. */
    private static Visit visit(TenantId tenant, long asked, long waited, long held) {
        long second = 1_000_000_000;
        return new Visit(tenant, null, 1, asked * second, waited * second, held * second, Visit.Outcome.SERVED, null);
    }

    @Test
    void requests_from_before_the_recording_take_permits_and_are_not_counted() {
        Rules one = rules(PoolSettings.ofPermits(1).withMaxWait(Duration.ofMinutes(1)), 1, 1);
        List<Visit> visits = List.of(
                visit(NOISY, -5, 0, 15), visit(NOISY, -2, 12, 10), visit(QUIET, 5, 15, 5), visit(QUIET, 18, 30, 1));
        Recorded recorded = new Recorded(0, 40_000_000_000L, visits);
        List<Comparison> all = WhatIf.compare(recorded, one, one);
        for (TenantUse noisy : List.of(of(NOISY, all).recorded(), of(NOISY, all).inForce())) {
            assertThat(noisy.requests() + noisy.waiting()).isZero();
            assertThat(noisy.permitSeconds()).isEqualTo(20);
        }
        TenantUse quiet = of(QUIET, all).recorded();
        assertThat(quiet.requests()).isOne();
        assertThat(quiet.waiting())
                .as("it asked in this time, and waits beyond it")
                .isOne();
        assertThat(quiet.permitSeconds()).isEqualTo(5);
        TenantUse again = of(QUIET, all).inForce();
        assertThat(again.requests() + again.waiting()).isEqualTo(2);
        assertThat(again.waitP50().toSeconds()).isBetween(5L, 15L);
    }

    @Test
    void nothing_recorded_is_nothing_to_compare() {
        assertThat(WhatIf.compare(traffic().under(EQUAL), EQUAL, EQUAL)).isEmpty();
    }
}
