package io.fairgate.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.fairness.TenantShares;
import io.fairgate.lease.FencingTokens;
import io.fairgate.lease.HeldBefore;
import io.fairgate.lease.LeaseId;
import io.fairgate.lease.LeaseListener;
import io.fairgate.lease.LeaseRequest;
import io.fairgate.lease.LeaseTerm;
import io.fairgate.lease.embedded.LeasedPools;
import io.fairgate.lease.embedded.Leases;
import io.fairgate.permit.LeaseBounds;
import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PoolListener;
import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.embedded.EmbeddedPermitPool;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Pools that say for how long their permits are leased, whatever a lease was opened with. */
class LeasedPoolBoundsTest {

    private static final TenantId ACME = TenantId.of("acme");
    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final Duration HOUR = Duration.ofHours(1);
    private static final LeaseTerm LONG = new LeaseTerm(HOUR, LeaseTerm.LONGEST);

    @RegisterExtension
    final NothingLeft nothingLeft = new NothingLeft();

    private final TestTime time = nothingLeft.watch(new TestTime());
    private final EmbeddedPermitPool strict = pool("strict");
    private final EmbeddedPermitPool free = pool("free");
    private final Map<String, LeaseBounds> bounds =
            new HashMap<>(Map.of("strict", new LeaseBounds(MINUTE, MINUTE.multipliedBy(3))));
    private final Leases leases = new Leases(
            new LeasedPools() {
                @Override
                public @Nullable PermitPool find(String name) {
                    return name.equals("strict") ? strict : free;
                }

                @Override
                public LeaseBounds bounds(String pool) {
                    return bounds.getOrDefault(pool, LeaseBounds.WIDEST);
                }
            },
            time,
            new FencingTokens(() -> Instant.EPOCH),
            LeaseListener.NONE);
    private final LeaseId id = LeaseId.random();

    private EmbeddedPermitPool pool(String name) {
        return nothingLeft.watch(
                new EmbeddedPermitPool(name, PoolSettings.ofPermits(2), TenantShares.EQUAL, time, PoolListener.NONE));
    }

    private void take(String pool, @Nullable Duration ttl) {
        LeaseRequest request = LeaseRequest.of(pool, 1, Duration.ZERO, ttl);
        assertThat(leases.take(id, request, status -> {}).block()).isTrue();
    }

    private Duration left() {
        return Duration.ofNanos(Objects.requireNonNull(leases.status(id)).leftNanos());
    }

    @Test
    void a_grant_bounds_a_lease_that_was_opened_for_longer() {
        leases.open(id, ACME, "holder", LONG);
        take("free", null);
        assertThat(left()).isEqualTo(HOUR);
        take("strict", null);
        assertThat(left()).isEqualTo(MINUTE);
        time.advanceBy(MINUTE);
        assertThat(leases.status(id)).isNull();
    }

    @Test
    void what_is_left_of_a_lease_grows_by_no_grant() {
        leases.open(id, ACME, "holder", new LeaseTerm(Duration.ofSeconds(10), LeaseTerm.LONGEST));
        take("strict", null);
        assertThat(left()).isEqualTo(Duration.ofSeconds(10));
        leases.release(id);
    }

    @Test
    void a_time_to_live_that_is_asked_for_with_the_permits_is_cut() {
        leases.open(id, ACME, "holder", LONG);
        take("strict", HOUR);
        assertThat(left()).isEqualTo(MINUTE);
        leases.release(id);
    }

    @Test
    void an_extension_is_cut_by_what_is_held_and_the_whole_hold_counts_from_the_grant() {
        leases.open(id, ACME, "holder", LONG);
        time.advanceBy(MINUTE);
        take("strict", null);
        for (int i = 0; i < 2; i++) {
            time.advanceBy(MINUTE.dividedBy(2));
            assertThat(leases.extend(id, HOUR)).isEqualTo(MINUTE);
        }
        time.advanceBy(MINUTE.dividedBy(2));
        time.advanceBy(MINUTE.dividedBy(4));
        assertThat(leases.extend(id, HOUR)).isEqualTo(MINUTE);
        time.advanceBy(MINUTE.dividedBy(2));
        assertThat(leases.extend(id, HOUR)).isEqualTo(MINUTE.multipliedBy(3).dividedBy(4));
        leases.release(id);
    }

    @Test
    void what_was_given_back_bounds_no_more() {
        leases.open(id, ACME, "holder", LONG);
        take("strict", null);
        leases.giveBack(id, "strict");
        assertThat(left()).isEqualTo(MINUTE);
        assertThat(leases.extend(id, HOUR)).isEqualTo(HOUR);
        time.advanceBy(MINUTE.multipliedBy(10));
        assertThat(leases.status(id)).isNotNull();
        leases.release(id);
    }

    @Test
    void bounds_that_change_bind_from_the_next_call_on() {
        leases.open(id, ACME, "holder", LONG);
        take("strict", null);
        bounds.put("strict", new LeaseBounds(MINUTE.multipliedBy(2), HOUR));
        assertThat(leases.extend(id, HOUR)).isEqualTo(MINUTE.multipliedBy(2));
        leases.release(id);
    }

    @Test
    void a_restored_lease_is_bounded_by_what_it_holds() {
        assertThat(restore(Map.of("free", 1, "strict", 1), Duration.ZERO)).isTrue();
        assertThat(left()).isEqualTo(MINUTE);
        assertThat(leases.extend(id, HOUR)).isEqualTo(MINUTE);
        leases.release(id);
    }

    @Test
    void a_restored_lease_is_held_no_longer_in_all_than_one_that_was_held_all_the_time() {
        bounds.put("strict", new LeaseBounds(HOUR, HOUR));
        assertThat(restore(Map.of("strict", 1), HOUR.minus(MINUTE))).isTrue();
        assertThat(left()).isEqualTo(MINUTE);
        assertThat(leases.extend(id, HOUR)).isEqualTo(MINUTE);
        leases.release(id);
        assertThat(restore(Map.of("strict", 1), HOUR)).isTrue();
        assertThat(leases.status(id)).as("over already").isNull();
    }

    private @Nullable Boolean restore(Map<String, Integer> permits, Duration heldFor) {
        return leases.restore(id, ACME, "holder", LONG, new HeldBefore(permits, heldFor, 0))
                .block();
    }
}
