package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.fairgate.spring.policyfile.PolicyReload;
import io.fairgate.spring.policyfile.PolicyReload.Result;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The gateway predicts the effect of another policy, and the prediction comes true when that policy is in force. */
class WhatIfTest {

    private static final int SECONDS = 4;
    private static final JsonMapper JSON = JsonMapper.builder().build();

    @RegisterExtension
    final RunningGateway gateway = new RunningGateway();

    @RegisterExtension
    final ScriptedUpstream upstream = new ScriptedUpstream();

    @TempDir
    @SuppressWarnings("NullAway.Init") // by JUnit
    Path folder;

    /** The pool of the demo, and its upstream, with other weights. */
    private String policy(int weightOfA, int weightOfB) {
        return TestPolicy.onePool(upstream.url(), "permits: 8, max-wait: 30s")
                .replace("a: { plan: plan }", "a: { plan: plan, weight: %d }".formatted(weightOfA))
                .replace("b: { plan: plan }", "b: { plan: plan, weight: %d }".formatted(weightOfB));
    }

    private PolicyFileOnDisk start(String policy, String... options) {
        PolicyFileOnDisk file = new PolicyFileOnDisk(folder.resolve("fairgate.yml")).write(policy);
        gateway.start(file.path(), options);
        upstream.on("/fair/x", exchange -> {
            Thread.sleep(50);
            ScriptedUpstream.OK.answer(exchange);
        });
        return file;
    }

    static HttpResponse<String> ask(RunningGateway gateway, String body) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create(gateway.managementUrl("/actuator/whatif")))
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString(body))
                .build();
        return HttpClient.newHttpClient().send(request, BodyHandlers.ofString());
    }

    static HttpResponse<String> ask(RunningGateway gateway, String policy, int seconds)
            throws IOException, InterruptedException {
        return ask(gateway, JSON.writeValueAsString(Map.of("policy", policy, "seconds", seconds)));
    }

    private HttpResponse<String> askFor(String policy, int seconds) throws IOException, InterruptedException {
        return ask(gateway, policy, seconds);
    }

    /** Of each tenant, as a part of what both use in some seconds. */
    private Map<String, Double> partsOfPermitTime() throws InterruptedException {
        Map<String, Double> before = permitSeconds();
        Thread.sleep(1_000 * SECONDS);
        Map<String, Double> used = permitSeconds();
        used.replaceAll((tenant, seconds) -> seconds - before.getOrDefault(tenant, 0.0));
        double all = used.values().stream().mapToDouble(seconds -> seconds).sum();
        used.replaceAll((tenant, seconds) -> seconds / all);
        return used;
    }

    private Map<String, Double> permitSeconds() {
        MetricsPage page = MetricsPage.of(gateway);
        Map<String, Double> used = new TreeMap<>();
        for (String tenant : new String[] {"a", "b"}) {
            used.put(tenant, page.value("fairgate_permit_seconds_total", "pool", "pool", "tenant", tenant));
        }
        return used;
    }

    private static JsonNode tenant(JsonNode pool, String tenant) {
        for (JsonNode one : pool.path("tenants")) {
            if (one.path("tenant").asString().equals(tenant)) {
                return one;
            }
        }
        throw new AssertionError(tenant + " is not in " + pool);
    }

    /**
     * Connections of the tenants, as in the demo and with two backlogs, and the weights of the candidate. Under each candidate, both
     * tenants ask for more than their shares: what they get does not depend on how fast their clients are.
     */
    @Tag("long")
    @ParameterizedTest
    @CsvSource({"64, 2, 9, 1", "64, 16, 1, 3"})
    void the_permit_time_under_other_weights_is_predicted_within_5_percent(
            int ofNoisy, int ofQuiet, int weightOfA, int weightOfB) throws Exception {
        PolicyFileOnDisk file = start(policy(1, 1), "--fairgate.watch-policy=0s");
        String url = gateway.url("/fair/x");
        SteadyLoad load = new SteadyLoad().keep(ofNoisy, url, "a").keep(ofQuiet, url, "b");
        Thread.sleep(3_000); // Until the clients need the same time for each request.
        Map<String, Double> before = partsOfPermitTime();
        String candidate = policy(weightOfA, weightOfB);
        HttpResponse<String> answer = askFor(candidate, SECONDS);
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        JsonNode pool = JSON.readTree(answer.body()).path("pools").path(0);

        file.write(candidate);
        Result reloaded = gateway.context().getBean(PolicyReload.class).reload().result();
        assertThat(reloaded).isEqualTo(Result.CHANGED);
        Thread.sleep(1_000);
        Map<String, Double> used = partsOfPermitTime();
        load.end();

        used.forEach((tenant, part) -> {
            JsonNode predicted = tenant(pool, tenant);
            String all = "%s; before: %s, then: %s, %s".formatted(tenant, before, used, pool);
            assertThat(predicted.path("clients").asString()).as(all).isEqualTo("wait-for-answers");
            assertThat(predicted.path("replayed").path("part").asDouble())
                    .as(all)
                    .isCloseTo(predicted.path("recorded").path("part").asDouble(), within(0.03));
            assertThat(predicted.path("candidate").path("part").asDouble())
                    .as(all)
                    .isCloseTo(part, within(0.05 * part));
        });
    }

    @Test
    void what_a_replay_does_not_know_is_said() throws Exception {
        start(policy(1, 1));
        assertThat(Answer.to(gateway.url("/fair/y"), "X-Tenant-Id", "c").status())
                .isEqualTo(200);
        String candidate = policy(1, 1)
                .replace("plan: {}", "plan: { quotas: [ { name: one, limit: 1, per: 1s } ] }")
                .replace("    c: { plan: plan }\n", "")
                .replace("identify:\n", "identify:\n    - api-key: { header: X-Api-Key }\n");
        JsonNode prediction = JSON.readTree(askFor(candidate, 60).body());
        assertThat(prediction.path("notes").toString()).contains("other quotas", "another way");
        assertThat(prediction.path("pools").path(0).path("notes").toString()).contains("c: no member of the candidate");
    }

    @ParameterizedTest
    @CsvSource({"enforce: false, permits: 8, it is in a dry run", "permits: 8, enforce: false, does not enforce it"})
    void a_pool_in_a_dry_run_is_not_replayed(String now, String then, String reason) throws Exception {
        String both = policy(1, 1).replace("permits: 8,", "permits: 8, KEY,");
        start(both.replace("KEY", now.startsWith("enforce") ? now : "max-waiting: 9"));
        assertThat(Answer.to(gateway.url("/fair/y"), "X-Tenant-Id", "a").status())
                .isEqualTo(200);
        String candidate = both.replace("KEY", then.startsWith("enforce") ? then : "max-waiting: 9");
        assertThat(askFor(candidate, 60).body()).contains("\"pools\":[]", reason);
    }

    @Test
    void requests_from_before_a_change_of_the_shares_are_not_replayed() throws Exception {
        PolicyFileOnDisk file = start(policy(1, 1), "--fairgate.watch-policy=0s");
        PolicyReload reload = gateway.context().getBean(PolicyReload.class);
        assertThat(Answer.to(gateway.url("/fair/y"), "X-Tenant-Id", "a").status())
                .isEqualTo(200);
        file.write(policy(1, 1).replace("id: plain", "id: other"));
        assertThat(reload.reload().result()).isEqualTo(Result.CHANGED);
        assertThat(askFor(policy(1, 1), 60).body()).contains("\"requests\":1,");
        file.write(policy(1, 2));
        assertThat(reload.reload().result()).isEqualTo(Result.CHANGED);
        assertThat(askFor(policy(1, 1), 60).body()).contains("\"requests\":0,");
    }

    @Test
    void nothing_is_recorded_when_that_is_switched_off() throws Exception {
        start(policy(1, 1), "--fairgate.what-if.requests=0");
        assertThat(Answer.to(gateway.url("/fair/y"), "X-Tenant-Id", "a").status())
                .isEqualTo(200);
        assertThat(askFor(policy(1, 1), 60).body())
                .contains("pool pool: nothing is recorded (expected: fairgate.what-if.requests of 1 or more)");
    }

    @Test
    void a_policy_of_ten_thousand_members_is_replayed() throws Exception {
        start(policy(1, 1));
        assertThat(Answer.to(gateway.url("/fair/y"), "X-Tenant-Id", "a").status())
                .isEqualTo(200);
        StringBuilder members = new StringBuilder("members:\n");
        for (int i = 0; i < 10_000; i++) {
            members.append("    customer-number-%d: { plan: plan, weight: 1, max-waiting: 1000 }\n".formatted(i));
        }
        HttpResponse<String> answer = askFor(policy(1, 1).replace("members:\n", members), 60);
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        JsonNode pool = JSON.readTree(answer.body()).path("pools").path(0);
        assertThat(tenant(pool, "a").path("candidate").path("granted").asInt()).isOne();
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void the_command_prints_a_row_for_each_way_of_looking_at_a_tenant(CapturedOutput output) throws Exception {
        start(policy(1, 1));
        for (String tenant : List.of("a", "a", "b")) {
            assertThat(Answer.to(gateway.url("/fair/y"), "X-Tenant-Id", tenant).status())
                    .isEqualTo(200);
        }
        Path file = Files.writeString(folder.resolve("next.yml"), policy(1, 1).replace("permits: 8", "permits: 4"));
        assertThat(Fairgate.run("what-if", file.toString(), "--gateway", gateway.managementUrl("")))
                .isZero();
        assertThat(output.getOut())
                .contains("Pool pool: 3 requests in ", "; 8 permits, and 4 in next.yml.")
                .containsPattern("a +recorded +[0-9.]+ +[0-9.]+ % +2 +0 +0 +0 +[0-9]+ ms +[0-9]+ ms")
                .containsPattern(" +come anyway +replayed +[0-9.]+ +[0-9.]+ % +2 ")
                .containsPattern(" +candidate +[0-9.]+ +[0-9.]+ % +2 ")
                .containsPattern("b +recorded +[0-9.]+ +[0-9.]+ % +1 ");
        assertThat(Fairgate.run("what-if", file.toString(), "--json", "--gateway", gateway.managementUrl("")))
                .isZero();
        assertThat(output.getOut()).contains("{\"pools\":[{\"pool\":\"pool\"");
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void the_command_names_what_is_wrong(CapturedOutput output) throws Exception {
        start(policy(1, 1));
        Path file = Files.writeString(folder.resolve("next.yml"), policy(1, 1).replace("permits: 8", "permit: 8"));
        assertThat(Fairgate.run("what-if", file.toString(), "--gateway", gateway.managementUrl("")))
                .isOne();
        assertThat(output.getErr()).contains(file + ":12: pools.pool.permit: unknown key");
        String none = folder.resolve("none.yml").toString();
        assertThat(Fairgate.run("what-if", none, "--gateway", gateway.managementUrl("")))
                .isOne();
        assertThat(output.getErr()).contains(none + " cannot be read");
        assertThat(Fairgate.run("what-if", file.toString(), "--gateway", "http://127.0.0.1:1"))
                .isOne();
        assertThat(output.getErr()).contains("http://127.0.0.1:1: no answer");
        assertThat(Fairgate.run("what-if", file.toString(), "--gateway", gateway.url("")))
                .isOne();
        assertThat(output.getErr()).contains(": status 404: ");
    }
}
