package io.fairgate.gateway.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.lease.LeaseId;
import io.fairgate.testkit.TestTime;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class EndedLeasesTest {

    private final TestTime time = new TestTime();
    private final EndedLeases ended = new EndedLeases(2, time);

    private LeaseId put(long number) {
        LeaseId id = new LeaseId(0, number);
        ended.put(id, LeaseProblem.ended());
        return id;
    }

    @Test
    void they_are_remembered_for_ten_minutes() {
        LeaseId id = put(1);
        time.advanceBy(Duration.ofMinutes(10).minusNanos(1));
        assertThat(ended.get(id)).isInstanceOf(LeaseProblem.class);
        time.advanceBy(Duration.ofNanos(1));
        assertThat(ended.get(id)).isNull();
    }

    @Test
    void of_too_many_the_oldest_go_and_what_ends_again_is_not_old() {
        LeaseId first = put(1);
        LeaseId second = put(2);
        put(1);
        LeaseId third = put(3);
        assertThat(ended.get(second)).isNull();
        assertThat(ended.get(first)).isNotNull();
        assertThat(ended.get(third)).isNotNull();
    }
}
