package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A lease costs its tenant one unit, when it is granted. Each test has its own tenant. */
class LeaseQuotaTest {

    @RegisterExtension
    static final RunningGateway GATEWAY = new RunningGateway();

    private static final LeasingTenant HOLDER = new LeasingTenant(GATEWAY, "holder");

    @BeforeAll
    static void start() {
        LeasingTenant.start(GATEWAY, """
                tenants:
                  identify:
                    - { header: X-Tenant-Id, trusted-from: [127.0.0.0/8] }
                  plans:
                    two: { quotas: [ { name: hourly, limit: 2, per: 1h } ] }
                    trial: { quotas: [ { name: hourly, limit: 1, per: 1h, enforce: false } ] }
                    unlimited: {}
                  members:
                    once: { plan: two }
                    vain: { plan: two }
                    silent: { plan: two }
                    late: { plan: two }
                    several: { plan: two }
                    restored: { plan: two }
                    trial: { plan: trial }
                    holder: { plan: unlimited }
                pools:
                  pool: { permits: 2 }
                  other: { permits: 1 }
                routes: []
                """);
    }

    private static LeasingTenant tenant(String name) {
        return new LeasingTenant(GATEWAY, name);
    }

    private static int left(LeasingTenant tenant) {
        String page = Answer.to(GATEWAY.managementUrl("/actuator/prometheus")).body();
        return (int) Double.parseDouble(page.replaceFirst(
                "(?s).*fairgate_quota_remaining\\{quota=\"hourly\",tenant=\"" + tenant.tenant() + "\"} (\\S+).*",
                "$1"));
    }

    @Test
    void a_lease_is_charged_once_and_its_answer_shows_the_balance() {
        LeasingTenant once = tenant("once");
        Answer one = once.acquire("1", "pool", "{\"permits\":2}");
        assertThat(one.status()).isEqualTo(201);
        assertThat(one.field("RateLimit")).startsWith("\"hourly\";r=1");
        assertThat(once.acquire("1", "pool", "{\"permits\":2}").status()).isEqualTo(201);
        once.extend(one.json("id"), "10s");
        assertThat(left(once)).isEqualTo(1);
        once.release(one.json("id"));
        assertThat(left(once)).isEqualTo(1);

        once.release(once.acquire("2", "pool", "{}").json("id"));
        Answer refused = once.acquire("3", "pool", "{}");
        LeaseApiTest.assertProblem(refused, 429, "quota");
        assertThat(refused.json()).containsKeys("violated-policies", "decision");
        assertThat(refused.field("Retry-After")).isNotEmpty();
        assertThat(GATEWAY.pool("pool").inFlight()).isZero();
        LeaseApiTest.assertProblem(once.acquire("2", "pool", "{}"), 409, "lease-ended");
    }

    @Test
    void a_lease_that_never_got_its_permits_is_not_charged() {
        Answer all = HOLDER.acquire("all", "pool", "{\"permits\":2}");
        LeasingTenant vain = tenant("vain");
        Answer waits = vain.acquire("1", "pool", "{\"maxWait\":\"50ms\"}");
        assertThat(waits.status()).isEqualTo(202);
        vain.release(waits.json("id"));
        HOLDER.release(all.json("id"));
        LeaseApiTest.assertProblem(vain.acquire("2", "pool", "{\"permits\":3}"), 409, "never-fits");
        assertThat(left(vain)).isEqualTo(2);
    }

    @Test
    void a_lease_granted_between_two_calls_is_charged_then() {
        Answer all = HOLDER.acquire("all2", "pool", "{\"permits\":2}");
        LeasingTenant silent = tenant("silent");
        Answer waits = silent.acquire("1", "pool", "{}");
        assertThat(left(silent)).isEqualTo(2);
        HOLDER.release(all.json("id"));
        RunningGateway.eventually(() -> assertThat(left(silent)).isEqualTo(1));
        assertThat(silent.acquire("1", "pool", "{}").status()).isEqualTo(201);
        assertThat(left(silent)).isEqualTo(1);
        silent.release(waits.json("id"));
    }

    @Test
    void a_refused_charge_releases_the_permits_and_is_repeated_to_later_calls() {
        Answer all = HOLDER.acquire("all3", "pool", "{\"permits\":2}");
        LeasingTenant late = tenant("late");
        Answer first = late.acquire("1", "pool", "{}");
        Answer second = late.acquire("2", "pool", "{}");
        late.release(late.acquire("3", "other", "{}").json("id"));
        late.release(late.acquire("4", "other", "{}").json("id"));
        assertThat(left(late)).isZero();
        LeaseApiTest.assertProblem(late.acquire("5", "pool", "{}"), 429, "quota");
        assertThat(GATEWAY.pool("pool").waiting())
                .as("a tenant with a used-up quota does not even queue")
                .isEqualTo(2);
        HOLDER.release(all.json("id"));
        RunningGateway.eventually(
                () -> assertThat(GATEWAY.pool("pool").inFlight()).isZero());
        LeaseApiTest.assertProblem(late.acquire("1", "pool", "{}"), 429, "quota");
        LeaseApiTest.assertProblem(late.acquire("1", "pool", "{}"), 429, "quota");
        LeaseApiTest.assertProblem(late.acquire("2", "pool", "{}"), 429, "quota");
        LeaseApiTest.assertProblem(late.get(first.json("id")), 404, "lease-expired");
        LeaseApiTest.assertProblem(late.get(second.json("id")), 404, "lease-expired");
    }

    @Test
    void a_waiting_call_gets_the_refused_charge() {
        Answer all = HOLDER.acquire("all4", "pool", "{\"permits\":2}");
        LeasingTenant several = tenant("several");
        var waiting = several.acquiring("1", "pool", "{\"maxWait\":\"30s\"}");
        GATEWAY.awaitWaiting("pool", 1);
        several.release(several.acquire("3", "other", "{}").json("id"));
        several.release(several.acquireAll("4", "{\"pools\":{\"other\":1}}").json("id"));
        HOLDER.release(all.json("id"));
        LeaseApiTest.assertProblem(waiting.join(), 429, "quota");
    }

    @Test
    void several_pools_cost_one_unit_and_so_does_a_restore_without_a_receipt() {
        LeasingTenant restored = tenant("restored");
        Answer both = restored.acquireAll("1", "{\"pools\":{\"pool\":2,\"other\":1}}");
        assertThat(both.status()).as(both.body()).isEqualTo(201);
        assertThat(left(restored)).isEqualTo(1);
        restored.release(both.json("id"));
        assertThat(restored.restore("5".repeat(32), "{\"pools\":{\"pool\":1}}").status())
                .isEqualTo(200);
        assertThat(left(restored)).isZero();
        restored.release("5".repeat(32));
        LeaseApiTest.assertProblem(restored.restore("6".repeat(32), "{\"pools\":{\"pool\":1}}"), 429, "quota");
    }

    @Test
    void a_quota_in_dry_run_counts_and_refuses_nothing() {
        LeasingTenant trial = tenant("trial");
        trial.release(trial.acquire("1", "pool", "{}").json("id"));
        trial.release(trial.acquire("2", "pool", "{}").json("id"));
        assertThat(Answer.to(GATEWAY.managementUrl("/actuator/prometheus")).body())
                .containsPattern(
                        "fairgate_refusals_total\\{enforced=\"false\",pool=\"none\",reason=\"quota\",tenant=\"trial\"} 1");
    }
}
