package io.fairgate.spring.quota;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.policy.Cidr;
import io.fairgate.policy.IdentitySource;
import io.fairgate.policy.Policy;
import io.fairgate.policy.QuotaRule;
import io.fairgate.policy.QuotaSets;
import io.fairgate.policy.TenantPolicy;
import io.fairgate.quota.Quota;
import io.fairgate.quota.Quota.CalendarUnit;
import io.fairgate.quota.embedded.EmbeddedQuotas;
import io.fairgate.shares.ShareSettings;
import io.fairgate.spring.policy.PolicyHolder;
import io.fairgate.spring.refusal.DecisionLog;
import io.fairgate.spring.refusal.DecisionLog.Decision;
import io.fairgate.tenant.TenantId;
import io.fairgate.testkit.TestTime;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Accounts of tenants that a reload has removed, in virtual time. */
class RemovedTenantsTest {

    private static final int MANY = 10_000;
    private static final List<QuotaRule> QUOTAS = List.of(
            QuotaRule.of(new Quota.Rate("burst", 5, Duration.ofSeconds(1), 5)),
            QuotaRule.of(new Quota.Calendar("hourly", 5, CalendarUnit.HOUR, ZoneOffset.UTC)));

    private final TestTime time = new TestTime();
    private final InstantSource wall =
            () -> Instant.parse("2026-03-10T12:00:00Z").plusNanos(time.now(TimeUnit.NANOSECONDS));
    private final EmbeddedQuotas quotas = new EmbeddedQuotas(time, wall);
    private final DecisionLog decisions = new DecisionLog();
    private final PolicyHolder policy = new PolicyHolder(withTenants(MANY));
    private final RemovedTenants removed = new RemovedTenants(policy.current(), quotas, decisions, time, wall);
    private int ids;

    RemovedTenantsTest() {
        policy.add(removed);
    }

    @AfterEach
    void no_timer_is_left() {
        removed.destroy();
        assertThat(time.timersLeft()).isZero();
    }

    private static TenantId tenant(int i) {
        return TenantId.of("t" + i);
    }

    private static Policy withTenants(int count) {
        Map<TenantId, TenantPolicy> members = new LinkedHashMap<>();
        for (int i = 0; i < count; i++) {
            members.put(tenant(i), new TenantPolicy(tenant(i), "plan", ShareSettings.EQUAL, QUOTAS));
        }
        return new Policy(
                List.of(new IdentitySource.Header("X-Tenant-Id", List.of(Cidr.parse("127.0.0.1")))),
                members,
                null,
                Map.of());
    }

    private boolean passes(TenantId tenant, long units) {
        return Objects.requireNonNull(quotas.chargeNow(new QuotaSets(withTenants(10)).of(tenant, null), units))
                .allowed();
    }

    private void decideAgainst(String tenant) {
        decisions.add(new Decision(
                "d" + ids++,
                wall.instant(),
                429,
                "quota",
                tenant,
                null,
                null,
                "unknown",
                null,
                null,
                null,
                null,
                0,
                0,
                "GET",
                "/",
                null,
                null,
                null,
                null,
                List.of(),
                true));
    }

    @Test
    void tenants_removed_by_a_reload_leave_nothing_behind_after_their_windows() {
        QuotaSets sets = new QuotaSets(policy.current());
        for (int i = 0; i < MANY; i++) {
            assertThat(quotas.chargeNow(sets.of(tenant(i), null), 1)).isNotNull();
        }
        for (int i = 0; i < 4000; i++) {
            decideAgainst(tenant(i).value());
        }
        policy.replace(withTenants(1));
        time.advanceBy(Duration.ofMinutes(59));
        assertThat(quotas.owners()).isEqualTo(MANY);
        assertThat(decisions.latest(MANY)).hasSize(4000);

        time.advanceBy(Duration.ofMinutes(3));
        assertThat(quotas.owners()).as("the one that has stayed").isOne();
        assertThat(decisions.latest(MANY)).extracting(Decision::tenant).containsExactly("t0");
    }

    @Test
    void a_tenant_that_is_removed_and_named_again_keeps_its_usage() {
        assertThat(passes(tenant(1), 5)).isTrue();
        policy.replace(withTenants(1));
        time.advanceBy(Duration.ofMinutes(30));
        policy.replace(withTenants(10));
        time.advanceBy(Duration.ofMinutes(20));

        assertThat(passes(tenant(1), 1)).isFalse();
        time.advanceBy(Duration.ofMinutes(10));
        assertThat(passes(tenant(1), 5)).isTrue();
    }

    @Test
    void an_account_revived_by_a_request_in_flight_is_dropped_too() {
        policy.replace(withTenants(1));
        time.advanceBy(Duration.ofMinutes(90));
        assertThat(passes(tenant(7), 1)).isTrue();
        assertThat(quotas.owners()).isOne();
        time.advanceBy(Duration.ofMinutes(31));
        assertThat(quotas.owners()).isZero();
    }
}
