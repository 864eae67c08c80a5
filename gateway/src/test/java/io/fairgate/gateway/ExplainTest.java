package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A decision tells who held the permits of the pool while the request waited; only the operator learns it. */
class ExplainTest {

    @RegisterExtension
    static final GatewayAndUpstream both = new GatewayAndUpstream();

    @BeforeAll
    static void start() {
        both.start(TestPolicy.onePool("http://UPSTREAM", "permits: 4, max-wait: 1500ms"));
    }

    private static JsonNode decision(String id) {
        String body = Answer.to(both.gateway().managementUrl("/actuator/decisions/" + id))
                .body();
        return JsonMapper.builder().build().readTree(body);
    }

    @Test
    void a_refusal_names_the_tenants_that_held_the_permits_meanwhile() {
        CountDownLatch end = new CountDownLatch(1);
        both.upstream().on("/fair/held", exchange -> {
            exchange.await(end);
            ScriptedUpstream.OK.answer(exchange);
        });
        List<CompletableFuture<Answer>> held = new ArrayList<>();
        for (String tenant : List.of("a", "a", "a", "b")) {
            held.add(Answer.future(both.gateway().url("/fair/held"), "X-Tenant-Id", tenant));
        }
        both.gateway().awaitInFlight("pool", 4);
        Answer refused = both.ask("/fair/x", "X-Tenant-Id", "c");
        assertThat(refused.status()).isEqualTo(503);
        assertThat(refused.body()).doesNotContain("holders", "\"a\"");

        JsonNode decision = decision(refused.json("decision"));
        end.countDown();
        held.forEach(CompletableFuture::join);

        assertThat(decision.path("reason").asString()).isEqualTo("max-wait");
        assertThat(decision.path("pool").asString()).isEqualTo("pool");
        assertThat(decision.path("waitedSeconds").asDouble()).isBetween(1.5, 20.0);
        JsonNode meanwhile = decision.path("meanwhile");
        assertThat(meanwhile.path("permits").asInt()).isEqualTo(4);
        assertThat(meanwhile.path("inFlight").asInt()).isEqualTo(4);
        JsonNode holders = meanwhile.path("holders");
        assertThat(holders.path(0).path("tenant").asString()).isEqualTo("a");
        assertThat(holders.path(0).path("part").asDouble()).isBetween(0.7, 0.8);
        assertThat(holders.path(1).path("tenant").asString()).isEqualTo("b");
        assertThat(holders.path(1).path("part").asDouble()).isBetween(0.2, 0.3);
        // Three permits for as long as it waited.
        assertThat(holders.path(0).path("permitSeconds").asDouble())
                .isBetween(2.5, 3.5 * decision.path("waitedSeconds").asDouble());
        // It asked for one permit, and was entitled to it.
        assertThat(meanwhile.path("tenant").path("share").asDouble()).isEqualTo(1);
    }

    @Test
    void a_wait_that_was_granted_is_explained_when_the_request_asks_for_it() {
        CountDownLatch end = new CountDownLatch(1);
        both.upstream().on("/fair/held", exchange -> {
            exchange.await(end);
            ScriptedUpstream.OK.answer(exchange);
        });
        List<CompletableFuture<Answer>> held = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            held.add(Answer.future(both.gateway().url("/fair/held"), "X-Tenant-Id", "a"));
        }
        both.gateway().awaitInFlight("pool", 4);
        CompletableFuture<Answer> waiting =
                Answer.future(both.gateway().url("/fair/x"), "X-Tenant-Id", "c", "Fairgate-Explain", "1");
        both.gateway().awaitWaiting("pool", 1);
        end.countDown();
        held.forEach(CompletableFuture::join);
        Answer granted = waiting.join();
        assertThat(granted.status()).isEqualTo(200);

        String id = granted.field("Fairgate-Decision");
        RunningGateway.eventually(
                () -> assertThat(decision(id).path("reason").asString()).isEqualTo("granted"));
        JsonNode decision = decision(id);
        assertThat(decision.path("status").asInt()).isEqualTo(200);
        assertThat(decision.path("tenant").asString()).isEqualTo("c");
        assertThat(decision.path("method").asString()).isEqualTo("GET");
        assertThat(decision.path("waitedSeconds").asDouble()).isPositive();
        assertThat(decision.path("meanwhile")
                        .path("holders")
                        .path(0)
                        .path("tenant")
                        .asString())
                .isEqualTo("a");
        assertThat(both.ask("/fair/x", "X-Tenant-Id", "c").field("Fairgate-Decision"))
                .isEmpty();
    }

    @Test
    void a_decision_without_a_pool_is_not_explained() {
        Answer refused = both.ask("/fair/x");
        assertThat(refused.status()).isEqualTo(401);
        assertThat(decision(refused.json("decision")).path("meanwhile").isNull())
                .isTrue();
    }

    @Test
    void a_failure_after_the_wait_is_explained_by_the_wait_and_not_by_its_own_hold() throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        both.upstream().on("/fair/held", exchange -> {
            exchange.await(end);
            ScriptedUpstream.OK.answer(exchange);
        });
        both.upstream().on("/fair/breaks", exchange -> {
            Thread.sleep(1_500);
            exchange.reset();
        });
        List<CompletableFuture<Answer>> held = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            held.add(Answer.future(both.gateway().url("/fair/held"), "X-Tenant-Id", "a"));
        }
        both.gateway().awaitInFlight("pool", 4);
        CompletableFuture<Answer> victim = Answer.future(both.gateway().url("/fair/breaks"), "X-Tenant-Id", "b");
        both.gateway().awaitWaiting("pool", 1);
        Thread.sleep(1_000);
        end.countDown();
        held.forEach(CompletableFuture::join);
        Answer failed = victim.join();
        assertThat(failed.status()).isEqualTo(502);
        JsonNode decision = decision(failed.json("decision"));
        assertThat(decision.path("meanwhile")
                        .path("holders")
                        .path(0)
                        .path("tenant")
                        .asString())
                .as("%s", decision)
                .isEqualTo("a");
        assertThat(decision.path("meanwhile")
                        .path("holders")
                        .path(0)
                        .path("part")
                        .asDouble())
                .isGreaterThan(0.8);
    }
}
