package io.fairgate.spring.quota;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairgate.policy.Cidr;
import io.fairgate.policy.IdentitySource;
import io.fairgate.policy.Policy;
import io.fairgate.policy.QuotaRule;
import io.fairgate.policy.TenantPolicy;
import io.fairgate.quota.Quota;
import io.fairgate.quota.embedded.EmbeddedQuotas;
import io.fairgate.shares.ShareSettings;
import io.fairgate.spring.exchange.RouteRules;
import io.fairgate.spring.identity.IdentityRefusedException;
import io.fairgate.spring.identity.IdentityRefusedException.Reason;
import io.fairgate.spring.metrics.FairgateMeters;
import io.fairgate.spring.metrics.RouteCounters;
import io.fairgate.spring.policy.PolicyHolder;
import io.fairgate.spring.refusal.DecisionLog;
import io.fairgate.spring.refusal.DecisionLog.Decision;
import io.fairgate.spring.refusal.Decisions;
import io.fairgate.spring.refusal.Decisions.Origin;
import io.fairgate.spring.refusal.RecordLog;
import io.fairgate.tenant.TenantId;
import io.fairgate.testkit.TestTime;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.http.HttpMethod;
import org.springframework.mock.http.server.reactive.MockServerHttpRequest;
import org.springframework.mock.web.server.MockServerWebExchange;
import org.springframework.web.server.ServerWebExchange;

/** The step alone, without a gateway around it. */
class QuotaStepTest {

    private static final QuotaRule ONE_IN_ALL = QuotaRule.of(new Quota.Total("all", 1));
    private static final QuotaRule ONE_IN_DRY_RUN = new QuotaRule(new Quota.Total("dry", 1), Set.of(), false);

    private final TestTime time = new TestTime();
    private final PolicyHolder policy = new PolicyHolder(withMember("acme", ONE_IN_ALL));
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final FairgateMeters meters = new FairgateMeters(policy, registry, 100, time);
    private final RecordLog audit = new RecordLog(RecordLog.AUDIT, meters.recordsLost(RecordLog.AUDIT));
    private final DecisionLog decisions = new DecisionLog();
    private final QuotaStep step = new QuotaStep(
            new EmbeddedQuotas(time, InstantSource.system()),
            policy,
            new Decisions(policy, decisions, audit, new RouteCounters(meters), InstantSource.system()),
            meters);

    QuotaStepTest() {
        policy.add(step);
    }

    @AfterEach
    void stop() throws InterruptedException {
        audit.destroy();
    }

    private static Policy withMember(String id, QuotaRule quota) {
        TenantId member = TenantId.of(id);
        return new Policy(
                List.of(new IdentitySource.Header("X-Tenant-Id", List.of(Cidr.parse("127.0.0.1")))),
                Map.of(member, new TenantPolicy(member, "plan", ShareSettings.EQUAL, List.of(quota))),
                null,
                Map.of());
    }

    private static ServerWebExchange exchange() {
        return MockServerWebExchange.from(MockServerHttpRequest.get("/"));
    }

    private RequestQuotas quotasOf(ServerWebExchange exchange, TenantPolicy tenant) {
        return step.of(exchange, tenant, RouteRules.of(exchange));
    }

    private double counted(String reason, boolean enforced) {
        return registry.get("fairgate.refusals")
                .tags("reason", reason, "enforced", Boolean.toString(enforced))
                .counter()
                .count();
    }

    @Test
    void a_tenant_that_the_policy_has_lost_since_it_was_identified_is_refused() {
        TenantPolicy dropped = policy.current().tenants().get(0);
        ServerWebExchange exchange = exchange();
        assertThat(quotasOf(exchange, dropped).areUnlimited()).isFalse();

        policy.replace(withMember("globex", ONE_IN_ALL));
        assertThatThrownBy(() -> quotasOf(exchange, dropped))
                .isInstanceOfSatisfying(
                        IdentityRefusedException.class,
                        refused -> assertThat(refused.reason()).isEqualTo(Reason.UNKNOWN_TENANT));
        assertThat(counted("unknown-tenant", true)).isOne();
    }

    @Test
    void a_policy_that_is_prepared_and_refused_changes_nothing() {
        TenantPolicy tenant = policy.current().tenants().get(0);
        step.prepare(withMember("globex", ONE_IN_ALL));
        step.rollBack();
        assertThat(quotasOf(exchange(), tenant).areUnlimited()).isFalse();
    }

    @Test
    void a_dry_run_is_noted_once_for_the_check_and_the_charge_of_a_request() {
        policy.replace(withMember("acme", ONE_IN_DRY_RUN));
        TenantPolicy tenant = policy.current().tenants().get(0);
        for (int i = 0; i < 3; i++) {
            RequestQuotas request = quotasOf(exchange(), tenant);
            Origin origin = new Origin(
                    tenant, "unknown", null, "orders", null, null, null, HttpMethod.GET, "/", null, new ArrayList<>());
            step.check(() -> origin, request).block();
            step.charge(() -> origin, request).block();
        }
        assertThat(decisions.latest(9)).extracting(Decision::quotas).containsExactly(List.of("dry"), List.of("dry"));
        assertThat(counted("quota", false)).isEqualTo(2);
    }
}
