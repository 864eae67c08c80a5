package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.gateway.lease.GatewayLeases;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/**
 * Each refused call to leases leaves one record, in both protocols and for every reason.
 */
@ExtendWith(OutputCaptureExtension.class)
class LeaseRefusalRecordsTest {

    private static final String POLICY = """
            tenants:
              identify:
                - { header: X-Tenant-Id, trusted-from: [127.0.0.0/8] }
              plans:
                plan: {}
                capped: { max-in-flight: 1 }
                counted: { quotas: [ { name: hourly, limit: 1, per: 1h } ] }
              members:
                a: { plan: plan }
                b: { plan: capped }
                counted: { plan: counted }
            pools:
              pool: { permits: 4, max-waiting: 1 }
              low: { permits: 1 }
              busy: { permits: 1, max-waiting: 0 }
            routes: []
            """;

    private static final String MANY = "y".repeat(3000);

    @RegisterExtension
    final RunningGateway gateway = new RunningGateway();

    private final LeasingTenant a = new LeasingTenant(gateway, "a");
    private final LeasingTenant b = new LeasingTenant(gateway, "b");
    private final LeasingTenant counted = new LeasingTenant(gateway, "counted");

    private void start() {
        LeasingTenant.start(
                gateway,
                POLICY,
                "--logging.level.io.fairgate.audit=info",
                "--fairgate.leases.throttle.enabled=true",
                "--fairgate.leases.throttle.levels.pool=1");
    }

    private static List<String> refusals(CapturedOutput output) {
        return output.getOut()
                .lines()
                .filter(line -> line.startsWith("{\"event\":\"lease-refused\""))
                .toList();
    }

    /** Exactly these records, in this order; each has the common beginning, and ends as given. */
    private static void assertRefusals(CapturedOutput output, String... ends) {
        RunningGateway.eventually(() -> assertThat(refusals(output)).hasSize(ends.length));
        assertThat(refusals(output))
                .zipSatisfy(
                        List.of(ends),
                        (line, end) -> assertThat(line)
                                .startsWith("{\"event\":\"lease-refused\",\"at\":\"")
                                .endsWith(end + "}"));
    }

    private static String of(String tenant, String rest) {
        return "\"tenant\":\"" + tenant + "\",\"client\":\"127.0.0.1\",\"peer\":\"127.0.0.1\"," + rest;
    }

    @Test
    void refused_lease_calls_are_in_the_audit_log(CapturedOutput output) {
        start();
        String body = "{\"permits\":5,\"holder\":\"nightly\"}";
        String lease = a.acquire("k", "pool", "{}").json("id");
        a.acquire("k2", "pool", "{\"permits\":0}");
        a.acquire("", "pool", "{}");
        a.acquireAll("k2", "{\"pools\":[]}");
        a.call("POST", "/v1/pools/pool/leases", "{}", "Idempotency-Key", "k2", "Content-Type", "text/plain");
        a.acquire("k2", "pool", "{\"holder\":\"" + "x".repeat(17_000) + "\"}");
        String tooLarge = ",\"pools\":{\"pool\":5},\"reason\":\"never-fits\"";
        a.acquire("k2", "pool", body);
        a.extend(lease, "soon");
        a.restore("x", "{}");
        b.extend(lease, "1s");
        b.release(lease);
        b.release("0".repeat(32));
        a.acquire("k", "pool", "{\"permits\":2}");
        a.release(lease);
        a.release(lease);
        a.acquire("k", "pool", "{}");
        a.call("GET", "/v1/pools/nowhere", "");
        assertRefusals(
                output,
                of("a", "\"pool\":\"pool\",\"reason\":\"bad-request\""),
                of("a", "\"pool\":\"pool\",\"reason\":\"bad-request\""),
                of("a", "\"reason\":\"bad-request\""),
                of("a", "\"pool\":\"pool\",\"reason\":\"unsupported-media-type\""),
                of("a", "\"pool\":\"pool\",\"reason\":\"body-too-large\""),
                tooLarge,
                of("a", "\"lease\":\"" + lease + "\",\"reason\":\"bad-request\""),
                of("a", "\"reason\":\"bad-request\""),
                of("b", "\"lease\":\"" + lease + "\",\"reason\":\"lease-expired\""),
                of("b", "\"lease\":\"" + lease + "\",\"reason\":\"lease-expired\""),
                of("a", "\"lease\":\"" + lease + "\",\"pools\":{\"pool\":2},\"reason\":\"idempotency-key-reused\""),
                of("a", "\"lease\":\"" + lease + "\",\"pools\":{\"pool\":1},\"reason\":\"lease-ended\""),
                of("a", "\"pool\":\"nowhere\",\"reason\":\"unknown-pool\""));
        assertThat(refusals(output))
                .anySatisfy(line -> assertThat(line)
                        .contains("\"holder\":\"nightly\",\"lease\":\"")
                        .endsWith(tooLarge + "}"));
        assertThat(Answer.to(gateway.managementUrl("/actuator/prometheus")).body())
                .contains("reason=\"lease-ended\",tenant=\"a\"} 1");
    }

    @Test
    void refused_throttle_calls_are_in_the_audit_log(CapturedOutput output) {
        start();
        String holder = peer(a);
        String peer = peer(a);
        lock(a, holder, "pool", "4");
        lock(a, peer, "pool", "5");
        lock(a, peer, "pool", "9223372036854775807");
        lock(a, peer, "pool", "x");
        lock(a, peer, "nowhere", "1");
        lock(a, peer, "pool", "0");
        lock(a, peer, "pool", "1");
        lock(a, peer, "low", "1");
        lock(a, holder, "pool", "3");
        lock(a, holder, "pool", "5");
        a.future("DELETE", "/peers/" + holder + "/pool", "").join();
        lock(a, holder, "low", "1");
        lock(a, holder, "pool", "1");
        lock(b, holder, "pool", "1");
        a.future("DELETE", "/peers/" + holder, "").join();
        a.future("DELETE", "/peers/" + holder, "").join();
        a.future("DELETE", "/peers/" + peer, "").join();
        a.future("GET", "/remainder?semaphore=nowhere", "").join();
        a.future("GET", "/peers/x/is_acquired", "").join();
        String asked = "\"pools\":{\"pool\":%s},\"reason\":\"%s\"";
        assertRefusals(
                output,
                asked.formatted("5", "never-fits"),
                asked.formatted("9223372036854775807", "never-fits"),
                "\"pool\":\"pool\",\"reason\":\"bad-request\"",
                "\"pools\":{\"nowhere\":1},\"reason\":\"unknown-pool\"",
                asked.formatted("0", "bad-request"),
                "\"pools\":{\"low\":1},\"reason\":\"already-pending\"",
                asked.formatted("3", "shrinking"),
                asked.formatted("5", "never-fits"),
                asked.formatted("1", "deadlock"),
                asked.formatted("1", "lease-expired"),
                of("a", "\"holder\":\"throttle\",\"reason\":\"unknown-pool\""),
                of("a", "\"holder\":\"throttle\",\"reason\":\"bad-request\""));
        String number = "%016x".formatted(Long.parseUnsignedLong(peer));
        assertThat(refusals(output).get(0))
                .contains(of("a", "\"holder\":\"throttle\",\"lease\":\""))
                .contains(number + "\",");
        assertThat(refusals(output).get(9)).contains(of("b", "\"holder\":\"throttle\",\"lease\":\""));
    }

    private static String peer(LeasingTenant client) {
        return client.future("POST", "/new_peer", "{\"expires_in\":\"5m\"}")
                .join()
                .body();
    }

    private static Answer lock(LeasingTenant client, String peer, String semaphore, String count) {
        return client.future("PUT", "/peers/" + peer + "/" + semaphore, count).join();
    }

    /** A refusal by a pool or a quota is recorded at once, even if no call waits for the answer. */
    @Test
    void a_refusal_by_a_pool_or_a_quota_is_logged_once(CapturedOutput output) {
        start();
        String lease = a.acquire("k", "busy", "{}").json("id");
        a.acquire("k2", "busy", "{\"maxWait\":\"1s\"}");
        String peer = peer(a);
        lock(a, peer, "busy", "1");
        lock(b, peer(b), "pool", "2");
        a.release(lease);
        String held = a.acquire("k3", "low", "{}").json("id");
        String first = counted.acquire("k", "low", "{}").json("id");
        counted.acquire("k2", "low", "{}");
        a.release(held);
        counted.release(first);
        RunningGateway.eventually(
                () -> assertThat(counted.acquire("k2", "low", "{}").status()).isEqualTo(429));
        counted.acquire("k3", "low", "{}");
        lock(counted, peer(counted), "low", "1");
        b.acquire("k", "pool", "{\"permits\":2}");
        assertRefusals(
                output,
                "\"reason\":\"pool-queue-full\"",
                "\"reason\":\"pool-queue-full\"",
                "\"reason\":\"too-large\"",
                "\"pools\":{\"low\":1},\"reason\":\"quota\"",
                "\"pools\":{\"low\":1},\"reason\":\"quota\"",
                "\"pools\":{\"low\":1},\"reason\":\"quota\"",
                "\"pools\":{\"low\":1},\"reason\":\"quota\"",
                "\"pools\":{\"pool\":2},\"reason\":\"never-fits\"");
    }

    @Test
    void values_from_clients_are_escaped_and_truncated(CapturedOutput output) {
        start();
        a.acquire("k", "%22%0A%7B%22event%22:%22forged%22", "{}");
        a.acquireAll("k", "{\"pools\":{\"" + MANY + "\":1}}");
        a.acquireAll("k", "{\"pools\":{\"" + "y".repeat(63) + "\\ud83d\\ude00\":1}}");
        String peer = peer(a);
        lock(a, peer, "x%22%0D%0A" + MANY, "1");
        StringBuilder pools = new StringBuilder();
        for (int i = 0; i < 100; i++) {
            pools.append(i == 0 ? "" : ",").append('"').append(i).append(MANY).append("\":1");
        }
        a.future("POST", "/restore", "{\"expires_in\":\"1m\",\"peer_id\":7,\"acquired\":{" + pools + "}}")
                .join();
        String cut = "y".repeat(64) + "…";
        assertRefusals(
                output,
                "\"pools\":{\"\\\"\\n{\\\"event\\\":\\\"forged\\\"\":1},\"reason\":\"unknown-pool\"",
                "\"pools\":{\"" + cut + "\":1},\"reason\":\"unknown-pool\"",
                "\"pools\":{\"" + "y".repeat(63) + "…\":1},\"reason\":\"unknown-pool\"",
                "\"pools\":{\"x\\\"\\r\\n" + "y".repeat(60) + "…\":1},\"reason\":\"unknown-pool\"",
                "\"reason\":\"unknown-pool\"");
        assertThat(refusals(output)).allSatisfy(line -> assertThat(line).hasSizeLessThan(1600));
        assertThat(output.getOut().lines()).noneMatch(line -> line.startsWith("{\"event\":\"forged"));
    }

    @Test
    void refused_unidentified_calls_are_logged_like_requests(CapturedOutput output) {
        start();
        LeasingTenant unidentified = new LeasingTenant(gateway, "");
        unidentified.acquire("k", "pool", "{\"permits\":0}");
        unidentified.future("GET", "/peers/", "").join();
        assertRefusals(output);
        RunningGateway.eventually(() -> assertThat(
                        output.getOut().lines().filter(line -> line.startsWith("{\"event\":\"identity-refused\"")))
                .hasSize(2));
    }

    @Test
    void a_caller_with_malformed_credentials_is_logged_with_its_address(CapturedOutput output) {
        start();
        LeasingTenant unidentified = new LeasingTenant(gateway, "");
        unidentified.future("GET", "/peers/", "", "Authorization", "Basic ?").join();
        assertRefusals(output, "Z\",\"client\":\"127.0.0.1\",\"peer\":\"127.0.0.1\",\"reason\":\"bad-request\"");
    }

    /** Open connections stay open while a call is being answered. */
    @Test
    void during_a_shutdown_calls_on_open_connections_are_refused(CapturedOutput output) throws Exception {
        start();
        a.acquire("held", "low", "{}");
        CompletableFuture<Answer> waiting = a.acquiring("k", "low", "{\"maxWait\":\"30s\",\"holder\":\"nightly\"}");
        gateway.awaitWaiting("low", 1);
        int port = LeasingTenant.port(gateway);
        try (RawClient kept = new RawClient(port);
                RawClient other = new RawClient(port)) {
            kept.get("/peers/", "a").readUntil("[]");
            other.get("/v1/pools/pool", "a").readUntil("}}");
            GatewayLeases.beginToEnd(gateway.context());
            LeaseApiTest.assertProblem(waiting.join(), 503, "draining");
            assertThat(kept.get("/peers/", "a").readUntil("}")).contains("503 ", "\"reason\":\"draining\"");
            assertThat(other.get("/v1/pools/pool", "a").readUntil("}")).contains("503 ", "\"reason\":\"draining\"");
        }
        assertRefusals(
                output,
                ",\"pools\":{\"low\":1},\"reason\":\"draining\"",
                "Z\",\"client\":\"127.0.0.1\",\"peer\":\"127.0.0.1\",\"reason\":\"draining\"",
                "Z\",\"client\":\"127.0.0.1\",\"peer\":\"127.0.0.1\",\"pool\":\"pool\",\"reason\":\"draining\"");
        gateway.close();
    }
}
