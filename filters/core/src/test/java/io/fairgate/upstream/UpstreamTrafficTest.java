package io.fairgate.upstream;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.upstream.SimulatedUpstream.Reply;
import io.fairgate.upstream.SimulatedUpstream.Sums;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import java.util.function.LongFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** One instance of three misbehaves; the others answer within 50 ms on average. With the settings that ship. */
class UpstreamTrafficTest {

    private static final int PERMITS = 64;

    private final Random random = new Random(7);

    @ParameterizedTest
    @ValueSource(doubles = {5, 300, 900})
    void a_slow_instance_gets_what_it_can_do_and_the_others_do_not_wait_for_it(double perSecond) {
        SimulatedUpstream upstream = upstream(exponential(500), Balance.LEAST_REQUESTS, perSecond);
        Sums all = upstream.run(Duration.ofMinutes(1));
        assertThat(all.share("odd")).isLessThan(0.22);
        assertThat(all.failed).isZero();
        assertThat(upstream.changes).as("slow is not failed").isEmpty();
    }

    @ParameterizedTest
    @ValueSource(doubles = {5, 300, 900})
    void an_instance_that_fails_at_once_is_not_taken_for_an_idle_one(double perSecond) {
        Sums all = upstream(now -> Reply.error(0.5), Balance.LEAST_REQUESTS, perSecond)
                .run(Duration.ofMinutes(1));
        assertThat(all.failed).isLessThanOrEqualTo(12);
    }

    @ParameterizedTest
    @ValueSource(doubles = {5, 300, 900})
    void an_instance_that_fails_half_of_the_time_gets_few_requests(double perSecond) {
        LongFunction<Reply> half = now -> random.nextBoolean() ? Reply.error(0.5) : Reply.answer(50);
        Sums all = upstream(half, Balance.LEAST_REQUESTS, perSecond).run(Duration.ofMinutes(2));
        assertThat(all.share("odd")).isLessThan(0.15);
    }

    @ParameterizedTest
    @ValueSource(doubles = {5, 300, 900})
    void no_request_is_lost_to_an_instance_that_refuses_connections(double perSecond) {
        SimulatedUpstream upstream =
                upstream(now -> now < 60e9 ? Reply.refused() : Reply.answer(50), Balance.LEAST_REQUESTS, perSecond);
        Sums down = upstream.run(Duration.ofMinutes(1));
        assertThat(down.failed).isZero();
        assertThat(down.sent("odd")).as("5 in a row, and probes").isLessThanOrEqualTo(12);
        upstream.run(Duration.ofMinutes(1));
        assertThat(upstream.run(Duration.ofMinutes(1)).share("odd"))
                .as("back within the longest time")
                .isBetween(0.25, 0.4);
    }

    @ParameterizedTest
    @ValueSource(doubles = {5, 300})
    void an_instance_that_hangs_holds_no_more_permits_than_the_others(double perSecond) {
        Sums all = upstream(now -> Reply.error(30_000), Balance.LEAST_REQUESTS, perSecond)
                .run(Duration.ofMinutes(2));
        assertThat(all.share("odd")).isLessThan(0.02);
        assertThat(all.waitedLong).isZero();
    }

    @ParameterizedTest
    @ValueSource(doubles = {5, 300, 900})
    void an_outage_of_two_seconds_of_all_is_over_for_all_soon_after(double perSecond) {
        Map<String, LongFunction<Reply>> replies = new LinkedHashMap<>();
        for (String name : new String[] {"a", "b", "c"}) {
            LongFunction<Reply> good = exponential(50);
            replies.put(name, now -> now > 10e9 && now < 12e9 ? Reply.refused() : good.apply(now));
        }
        SimulatedUpstream upstream =
                new SimulatedUpstream(replies, Balance.LEAST_REQUESTS, HealthRules.USUAL, perSecond, PERMITS, 2);
        upstream.run(Duration.ofSeconds(20));
        assertThat(upstream.run(Duration.ofSeconds(20)).sent.values())
                .hasSize(3)
                .allSatisfy(sent -> assertThat(sent).isGreaterThan((int) (perSecond * 20 * 0.2)));
    }

    @Test
    void one_tenant_whose_requests_fail_everywhere_leaves_half_of_the_instances_in_use() {
        Map<String, LongFunction<Reply>> replies = new LinkedHashMap<>();
        for (String name : new String[] {"a", "b", "c", "d"}) {
            LongFunction<Reply> good = exponential(50);
            replies.put(name, now -> random.nextInt(100) < 98 ? Reply.error(0.5) : good.apply(now));
        }
        SimulatedUpstream upstream =
                new SimulatedUpstream(replies, Balance.LEAST_REQUESTS, HealthRules.USUAL, 900, PERMITS, 2);
        for (int second = 0; second < 60; second++) {
            upstream.run(Duration.ofSeconds(1));
            assertThat(upstream.balancer().status(second * 1_000_000_000L).stream()
                            .filter(InstanceStatus::isInUse))
                    .hasSizeGreaterThanOrEqualTo(2);
        }
    }

    private SimulatedUpstream upstream(LongFunction<Reply> odd, Balance balance, double perSecond) {
        Map<String, LongFunction<Reply>> replies = new LinkedHashMap<>();
        replies.put("odd", odd);
        replies.put("second", exponential(50));
        replies.put("third", exponential(50));
        return new SimulatedUpstream(replies, balance, HealthRules.USUAL, perSecond, PERMITS, 2);
    }

    private LongFunction<Reply> exponential(double meanMillis) {
        return now -> Reply.answer(-Math.log(1 - random.nextDouble()) * meanMillis);
    }
}
