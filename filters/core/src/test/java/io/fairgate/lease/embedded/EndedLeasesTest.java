package io.fairgate.lease.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.lease.LeaseId;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class EndedLeasesTest {

    private static final TenantId ACME = TenantId.of("acme");
    private static final long MINUTE = Duration.ofMinutes(1).toNanos();
    private static final long TEN_MINUTES = 10 * MINUTE;

    /** Any time: the clock may begin at each number. */
    private static final long BEGIN = -MINUTE / 2;

    private final EndedLeases ended = new EndedLeases(BEGIN);
    private long now = BEGIN;

    private LeaseId put(long number) {
        return put(ACME, number);
    }

    private LeaseId put(TenantId tenant, long number) {
        LeaseId id = new LeaseId(0, number);
        ended.put(tenant, id, TEN_MINUTES, now);
        return id;
    }

    private boolean contains(TenantId tenant, LeaseId id) {
        return ended.contains(tenant, id, now);
    }

    @Test
    void an_ended_lease_is_remembered_for_its_time() {
        LeaseId id = put(1);
        now += TEN_MINUTES - 1;
        assertThat(contains(ACME, id)).isTrue();
        now++;
        assertThat(contains(ACME, id)).isFalse();
    }

    @Test
    void a_lease_that_is_put_again_is_remembered_from_then_on() {
        LeaseId id = put(1);
        now += TEN_MINUTES - 1;
        put(1);
        now += TEN_MINUTES - 1;
        assertThat(contains(ACME, id)).isTrue();
    }

    @Test
    void a_lease_that_is_not_to_be_remembered_takes_no_place() {
        ended.put(ACME, new LeaseId(0, 1), 0, now);
        assertThat(contains(ACME, new LeaseId(0, 1))).isFalse();
        assertThat(ended.tenants()).isZero();
    }

    @Test
    void a_lease_is_remembered_for_its_own_time_whatever_the_times_of_others() {
        LeaseId shorter = new LeaseId(0, 2);
        LeaseId longer = put(1);
        ended.put(ACME, shorter, MINUTE, now);
        now += MINUTE;
        put(3);
        assertThat(contains(ACME, shorter)).isFalse();
        assertThat(contains(ACME, longer)).isTrue();
    }

    @Test
    void of_a_tenant_with_too_many_ended_leases_the_oldest_are_forgotten() {
        LeaseId first = put(0);
        LeaseId second = put(1);
        for (int i = 2; i < EndedLeases.MOST_OF_A_TENANT; i++) {
            put(i);
        }
        assertThat(contains(ACME, first)).isTrue();
        put(0);
        assertThat(contains(ACME, second))
                .as("the same lease takes no more room")
                .isTrue();
        LeaseId last = put(EndedLeases.MOST_OF_A_TENANT);
        assertThat(contains(ACME, second)).isFalse();
        assertThat(contains(ACME, first)).isTrue();
        assertThat(contains(ACME, last)).isTrue();
    }

    @Test
    void many_ended_leases_of_a_tenant_take_no_room_from_another() {
        TenantId flood = TenantId.of("flood");
        LeaseId first = put(1);
        for (int i = 0; i < 2 * EndedLeases.MOST_OF_A_TENANT; i++) {
            put(flood, i);
        }
        assertThat(contains(ACME, first)).isTrue();
        assertThat(contains(flood, new LeaseId(0, EndedLeases.MOST_OF_A_TENANT)))
                .isTrue();
        assertThat(contains(flood, new LeaseId(0, EndedLeases.MOST_OF_A_TENANT - 1)))
                .isFalse();
    }

    @Test
    void ended_leases_of_a_tenant_do_not_concern_others() {
        LeaseId id = put(1);
        assertThat(contains(TenantId.of("other"), id)).isFalse();
    }

    @Test
    void ended_leases_of_absent_tenants_are_forgotten_in_time() {
        for (int i = 0; i < 1000; i++) {
            put(TenantId.of("t" + i), i);
        }
        now += 9 * MINUTE;
        LeaseId early = put(1);
        assertThat(ended.tenants()).isEqualTo(1001);
        assertThat(contains(TenantId.of("t7"), new LeaseId(0, 7))).isTrue();

        now += 2 * MINUTE;
        put(2);
        assertThat(ended.tenants()).isOne();
        assertThat(contains(ACME, early)).isTrue();
    }
}
