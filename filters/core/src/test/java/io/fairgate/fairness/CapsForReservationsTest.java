package io.fairgate.fairness;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.shares.ShareSettings;
import io.fairgate.shares.TenantShares;
import io.fairgate.tenant.TenantId;
import org.junit.jupiter.api.Test;

/** Caps in the place of reservations: what can ever be granted stays the same. */
class CapsForReservationsTest {

    private static final int TENANTS = 5;
    private static final TenantId NOT_CONFIGURED = TenantId.of("x");

    private static FairScheduler scheduler(int permits, TenantShares shares) {
        return new FairScheduler(permits, shares, FairnessSettings.USUAL, 0);
    }

    @Test
    void the_same_requests_fit_and_nothing_is_reserved() {
        int reserving = 0;
        for (int seed = 0; seed < 2_000; seed++) {
            int permits = 1 + seed % 12;
            TenantShares shares = RandomTree.shares(seed, permits, TENANTS);
            TenantShares capped = shares.withCapsForReservations(permits);
            assertThat(capped.reserved()).isZero();
            reserving += shares.reserved() > 0 ? 1 : 0;
            FairScheduler before = scheduler(permits, shares);
            FairScheduler after = scheduler(permits, capped);
            for (TenantId tenant : shares.members().keySet()) {
                assertFits(before, after, tenant, permits, seed);
            }
            assertFits(before, after, NOT_CONFIGURED, permits, seed);
        }
        assertThat(reserving).isGreaterThan(300);
    }

    /** A cap is at least 1, also where others reserve all permits. */
    private static void assertFits(FairScheduler before, FairScheduler after, TenantId tenant, int permits, int seed) {
        for (int n = 2; n <= permits; n++) {
            assertThat(after.canEverFit(tenant, n))
                    .as("seed %d: %d permits of %d for %s", seed, n, permits, tenant)
                    .isEqualTo(before.canEverFit(tenant, n));
        }
    }

    @Test
    void guarantees_stay_as_far_as_the_cap_allows() {
        TenantId first = TenantId.of("first");
        TenantId second = TenantId.of("second");
        TenantShares shares = TenantShares.EQUAL
                .withMember(first, ShareSettings.EQUAL.withGuaranteed(8, 0))
                .withMember(second, ShareSettings.ofWeight(3).withGuaranteed(5, 4));
        TenantShares capped = shares.withCapsForReservations(10);
        assertThat(capped.of(first))
                .isEqualTo(ShareSettings.EQUAL.withMaxInFlight(6).withGuaranteed(6, 0));
        assertThat(capped.of(second))
                .isEqualTo(ShareSettings.ofWeight(3).withMaxInFlight(10).withGuaranteed(5, 0));
        assertThat(capped.of(NOT_CONFIGURED)).isEqualTo(ShareSettings.EQUAL.withMaxInFlight(6));
    }

    @Test
    void shares_without_reservations_stay_as_they_are() {
        TenantShares shares = TenantShares.EQUAL.withMember(NOT_CONFIGURED, ShareSettings.ofWeight(2));
        assertThat(shares.withCapsForReservations(10)).isSameAs(shares);
    }
}
