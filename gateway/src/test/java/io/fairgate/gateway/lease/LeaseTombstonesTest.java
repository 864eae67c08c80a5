package io.fairgate.gateway.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.lease.LeaseId;
import io.fairgate.tenant.TenantId;
import io.fairgate.testkit.TestTime;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class LeaseTombstonesTest {

    private static final TenantId ACME = TenantId.of("acme");

    private final TestTime time = new TestTime();
    private final LeaseTombstones ended = new LeaseTombstones(2, time);

    private LeaseId put(long number) {
        return put(ACME, number);
    }

    private LeaseId put(TenantId tenant, long number) {
        LeaseId id = new LeaseId(0, number);
        ended.put(tenant, id, LeaseProblems.ENDED);
        return id;
    }

    @Test
    void they_are_remembered_for_ten_minutes() {
        LeaseId id = put(1);
        time.advanceBy(Duration.ofMinutes(10).minusNanos(1));
        assertThat(ended.get(ACME, id)).isSameAs(LeaseProblems.ENDED);
        time.advanceBy(Duration.ofNanos(1));
        assertThat(ended.get(ACME, id)).isNull();
    }

    @Test
    void of_too_many_the_oldest_go_and_what_ends_again_is_not_old() {
        LeaseId first = put(1);
        LeaseId second = put(2);
        put(1);
        LeaseId third = put(3);
        assertThat(ended.get(ACME, second)).isNull();
        assertThat(ended.get(ACME, first)).isNotNull();
        assertThat(ended.get(ACME, third)).isNotNull();
    }

    @Test
    void who_has_the_most_makes_room_and_not_who_came_first() {
        TenantId flood = TenantId.of("flood");
        LeaseId first = put(1);
        for (int i = 0; i < 5; i++) {
            put(flood, i);
        }
        assertThat(ended.get(ACME, first)).isNotNull();
        assertThat(ended.get(flood, new LeaseId(0, 4))).isNotNull();
        assertThat(ended.get(flood, new LeaseId(0, 3))).isNull();
    }

    @Test
    void those_of_one_tenant_are_nothing_to_others() {
        LeaseId id = put(1);
        assertThat(ended.get(TenantId.of("other"), id)).isNull();
    }

    @Test
    void those_of_tenants_that_never_come_again_are_forgotten_when_their_time_is_over() {
        LeaseTombstones many = new LeaseTombstones(100_000, time);
        for (int i = 0; i < 1000; i++) {
            many.put(TenantId.of("t" + i), new LeaseId(0, i), LeaseProblems.ENDED);
        }
        time.advanceBy(Duration.ofMinutes(9));
        many.put(ACME, new LeaseId(0, 1), LeaseProblems.ENDED);
        assertThat(many.tenants()).isEqualTo(1001);
        assertThat(many.get(TenantId.of("t7"), new LeaseId(0, 7))).isNotNull();

        time.advanceBy(Duration.ofMinutes(2));
        many.put(ACME, new LeaseId(0, 2), LeaseProblems.ENDED);
        assertThat(many.tenants()).isOne();
        assertThat(many.get(ACME, new LeaseId(0, 1))).isNotNull();
    }
}
