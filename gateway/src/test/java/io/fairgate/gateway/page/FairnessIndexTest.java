package io.fairgate.gateway.page;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.fairgate.status.PoolStatus;
import io.fairgate.status.PoolStatus.TenantStatus;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class FairnessIndexTest {

    private static final long SECOND = Duration.ofSeconds(1).toNanos();

    private final FairnessIndex index = new FairnessIndex();
    private long now;

    private static TenantStatus tenant(String id, int inFlight, int waiting, double share) {
        return new TenantStatus(
                TenantId.of(id),
                null,
                1,
                inFlight,
                waiting,
                share,
                Duration.ZERO,
                Duration.ZERO,
                Duration.ZERO,
                List.of());
    }

    private FairnessIndex after(int seconds, TenantStatus... tenants) {
        for (int i = 0; i < seconds; i++) {
            now += SECOND;
            index.add(now, new PoolStatus(8, 8, 0, 1, 0, Duration.ZERO, List.of(tenants), List.of()));
        }
        return index;
    }

    @Test
    void it_is_one_when_all_get_the_same_part_of_their_shares() {
        assertThat(after(20, tenant("a", 6, 9, 6), tenant("b", 2, 1, 2)).value())
                .isEqualTo(1);
    }

    @Test
    void it_is_one_half_when_one_of_two_gets_everything() {
        assertThat(after(20, tenant("a", 8, 9, 4), tenant("b", 0, 1, 4)).value())
                .isCloseTo(0.5, within(1e-9));
    }

    @Test
    void a_tenant_that_does_not_wait_wants_no_more_than_it_has() {
        assertThat(after(20, tenant("a", 4, 9, 4), tenant("b", 4, 9, 4), tenant("c", 0, 0, 2))
                        .value())
                .isEqualTo(1);
    }

    @Test
    void it_needs_two_tenants_that_wait_for_ten_seconds() {
        assertThat(after(9, tenant("a", 8, 9, 4), tenant("b", 0, 1, 4)).value()).isNull();
        assertThat(after(1, tenant("a", 8, 9, 4), tenant("b", 0, 1, 4)).value()).isNotNull();
        assertThat(after(70, tenant("a", 8, 9, 8)).value()).isNull();
    }

    @Test
    void it_forgets_what_is_older_than_a_minute() {
        after(30, tenant("a", 8, 9, 4), tenant("b", 0, 1, 4));
        assertThat(after(61, tenant("a", 4, 9, 4), tenant("b", 4, 1, 4)).value())
                .isEqualTo(1);
    }
}
