package io.fairgate.gateway;

import static io.fairgate.gateway.RunningGateway.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.redis.connection.RedisProcess;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Two gateways whose tenants have their quotas together, in a real Redis. */
class SharedQuotaTest {

    private static final String POLICY = """
            tenants:
              identify:
                - { header: X-Tenant-Id, trusted-from: [127.0.0.0/8] }
              plans:
                plan: { quotas: [ { name: prepaid, limit: 50, per: total } ] }
                unlimited: {}
              members:
                a: { plan: plan }
                b: { plan: unlimited }
                c: { plan: plan }
            pools:
              pool: { permits: 4, max-wait: 20s }
            routes:
              - { id: fair, uri: "UPSTREAM", predicates: [ "Path=/fair/**" ], filters: [ "FairShare=pool" ] }
              - { id: plain, uri: "UPSTREAM", predicates: [ "Path=/plain/**" ] }
            """;

    @RegisterExtension
    final RunningGateway one = new RunningGateway();

    @RegisterExtension
    final RunningGateway two = new RunningGateway();

    @RegisterExtension
    final ScriptedUpstream upstream = new ScriptedUpstream();

    private RedisProcess redis;

    @BeforeEach
    void start() throws IOException {
        redis = new RedisProcess();
        for (RunningGateway each : List.of(one, two)) {
            each.start(
                    POLICY.replace("UPSTREAM", upstream.url()),
                    "--fairgate.backend=redis",
                    "--spring.data.redis.url=redis://127.0.0.1:" + redis.port());
            awaitAnswer(each, "/fair/x", "b", 200);
        }
    }

    @AfterEach
    void stop() {
        redis.close();
    }

    private static Answer ask(RunningGateway gateway, String path, String tenant) {
        return Answer.to(gateway.url(path), "X-Tenant-Id", tenant);
    }

    private static void awaitAnswer(RunningGateway gateway, String path, String tenant, int status) {
        eventually(() -> assertThat(ask(gateway, path, tenant).status()).isEqualTo(status));
    }

    @Test
    void requests_at_both_gateways_together_get_the_limit_to_the_request() {
        assertThat(ask(one, "/plain/x", "a").field("ratelimit")).contains("\"prepaid\";r=49");
        assertThat(ask(two, "/plain/x", "a").field("ratelimit")).contains("\"prepaid\";r=48");
        List<CompletableFuture<Answer>> asked = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            RunningGateway gateway = i % 2 == 0 ? one : two;
            asked.add(Answer.future(gateway.url(i % 3 == 0 ? "/plain/x" : "/fair/x"), "X-Tenant-Id", "a"));
        }
        long served =
                2 + asked.stream().filter(each -> each.join().status() == 200).count();
        // If Redis does not answer in time, a charge is given back later; these get what is left then.
        int status = 0;
        for (int i = 0; i < 200 && status != 429; i++) {
            status = ask(one, "/plain/x", "a").status();
            served += status == 200 ? 1 : 0;
        }
        assertThat(served).isEqualTo(50);
        assertThat(ask(two, "/plain/x", "a").status()).isEqualTo(429);
        eventually(() -> assertThat(
                        MetricsPage.upToDate(two).value("fairgate_quota_remaining", "tenant", "a", "quota", "prepaid"))
                .as("NaN while Redis has not answered")
                .isZero());
        assertThat(ask(two, "/plain/x", "b").status()).as("without quotas").isEqualTo(200);
    }

    @Test
    void without_redis_requests_that_have_quotas_are_refused_and_with_it_they_are_served_again() throws IOException {
        assertThat(ask(one, "/plain/x", "c").status()).isEqualTo(200);
        redis.close();
        awaitAnswer(one, "/plain/x", "c", 503);
        Answer refused = ask(one, "/plain/x", "c");
        assertThat(refused.body()).contains("backend-lost");
        assertThat(refused.field("retry-after")).isEqualTo("1");
        String health = Answer.to(one.managementUrl("/actuator/health")).body();
        assertThat(health).contains("\"quotas\"", "requests that have quotas are refused (backend-lost)");
        assertThat(ask(one, "/plain/x", "b").status())
                .as("without a pool and without quotas")
                .isEqualTo(200);

        redis = new RedisProcess(redis.port());
        awaitAnswer(one, "/plain/x", "c", 200);
        awaitAnswer(two, "/fair/x", "c", 200);
    }
}
