package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.client.Lease;
import io.fairgate.client.LeaseClient;
import io.fairgate.client.LeaseClientSettings;
import io.fairgate.client.LeaseLostException;
import io.fairgate.client.LeaseOptions;
import io.fairgate.gateway.lease.LeaseApiServer;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What an operator sees of the leases of all tenants, and that an operator can end one. */
class LeasesEndpointTest {

    private static final JsonMapper JSON = JsonMapper.builder().build();

    @RegisterExtension
    static final RunningGateway gateway = new RunningGateway();

    private final LeasingTenant a = new LeasingTenant(gateway, "a");
    private final LeasingTenant b = new LeasingTenant(gateway, "b");

    @BeforeAll
    static void start() {
        LeasingTenant.start(
                gateway,
                TestPolicy.onePool("http://127.0.0.1:9", "permits: 4")
                        .replace("pools:\n", "pools:\n  other: { permits: 2 }\n"),
                "--logging.level.io.fairgate.audit=info");
    }

    @AfterEach
    void endAll() throws Exception {
        for (JsonNode lease : seen("").path("shown")) {
            assertThat(delete(lease.path("id").asString())).isEqualTo(204);
        }
    }

    private String url(String path) {
        return gateway.managementUrl("/actuator/leases" + path);
    }

    private int delete(String id, String... headers) throws Exception {
        HttpRequest.Builder request =
                HttpRequest.newBuilder(URI.create(url("/" + id))).DELETE();
        if (headers.length > 0) {
            request.headers(headers);
        }
        return HttpClient.newHttpClient()
                .send(request.build(), BodyHandlers.discarding())
                .statusCode();
    }

    private static double revoked() {
        return MetricsPage.upToDate(gateway)
                .value("fairgate_leases_ended_total", "pool", "pool", "tenant", "a", "how", "revoked");
    }

    private JsonNode seen(String query) {
        return JSON.readTree(Answer.to(url(query)).body());
    }

    private List<String> holders(String query) {
        List<String> holders = new ArrayList<>();
        seen(query)
                .path("shown")
                .forEach(lease -> holders.add(lease.path("holder").asString()));
        return holders;
    }

    @Test
    void leases_of_all_tenants_are_shown_the_oldest_first() {
        a.acquire("1-1", "pool", "{\"permits\":3,\"holder\":\"nightly-1\",\"ttl\":\"5m\"}");
        b.acquire("1-2", "other", "{\"holder\":\"crawler\"}");
        b.acquire("1-3", "pool", "{\"permits\":2,\"holder\":\"nightly-2\"}");
        JsonNode all = seen("");
        assertThat(all.path("open").asInt()).isEqualTo(3);
        assertThat(all.path("holding").asInt()).isEqualTo(2);
        assertThat(all.path("waiting").asInt()).isEqualTo(1);
        assertThat(holders("")).containsExactly("nightly-1", "crawler", "nightly-2");
        JsonNode first = all.path("shown").path(0);
        assertThat(first.path("state").asString()).isEqualTo("held");
        assertThat(first.path("tenant").asString()).isEqualTo("a");
        assertThat(first.path("permits").toString()).isEqualTo("{\"pool\":3}");
        assertThat(first.path("token").asLong()).isPositive();
        assertThat(first.path("expiresInSeconds").asDouble()).isBetween(240.0, 300.0);
        JsonNode last = all.path("shown").path(2);
        assertThat(last.path("state").asString()).isEqualTo("waiting");
        assertThat(last.path("place").asInt()).isOne();
        assertThat(last.path("token").isNull()).isTrue();
        assertThat(all.toString()).doesNotContain("receipt");
        assertThat(holders("?tenant=b")).containsExactly("crawler", "nightly-2");
        assertThat(holders("?pool=pool")).containsExactly("nightly-1", "nightly-2");
        assertThat(holders("?holder=nightly&tenant=a")).containsExactly("nightly-1");
        assertThat(holders("?tenant=no%20tenant")).isEmpty();
        String id = first.path("id").asString();
        assertThat(Answer.to(url("/" + id)).json("holder")).isEqualTo("nightly-1");
    }

    /** The oldest of more leases than are shown is found. */
    @Test
    void a_filter_looks_at_all_leases() {
        b.acquire("2-0", "other", "{\"holder\":\"needle\",\"ttl\":\"5m\"}");
        a.acquire("2-1", "pool", "{\"permits\":2,\"holder\":\"hay-1\",\"ttl\":\"5m\"}");
        a.acquire("2-2", "pool", "{\"permits\":2,\"holder\":\"hay-2\",\"ttl\":\"5m\"}");
        assertThat(holders("?limit=1")).containsExactly("needle");
        assertThat(holders("?limit=1&holder=hay")).containsExactly("hay-1");
        JsonNode all = seen("?limit=1&holder=hay");
        assertThat(all.path("matching").asInt()).isEqualTo(2);
        assertThat(all.path("complete").asBoolean()).isTrue();
        assertThat(all.path("open").asInt()).isEqualTo(3);
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void a_lease_that_an_operator_ends_gives_its_permits_to_the_next(CapturedOutput output) throws Exception {
        double before = revoked();
        String stuck =
                a.acquire("3-1", "pool", "{\"permits\":4,\"ttl\":\"5m\"}").json("id");
        var next = b.acquiring("3-2", "pool", "{\"permits\":2,\"maxWait\":\"20s\"}");
        gateway.awaitWaiting("pool", 1);
        assertThat(delete(stuck)).isEqualTo(204);
        assertThat(next.join().status()).isEqualTo(201);
        assertThat(a.extend(stuck, "30s").json("reason")).isEqualTo("lease-expired");
        assertThat(a.acquire("3-1", "pool", "{\"permits\":4,\"ttl\":\"5m\"}").json("reason"))
                .isEqualTo("lease-ended");
        assertThat(delete(stuck)).isEqualTo(404);
        assertThat(Answer.to(url("/" + stuck)).status()).isEqualTo(404);
        RunningGateway.eventually(() -> assertThat(output.getOut()).contains("{\"event\":\"lease-revoked\""));
        assertThat(revoked()).isEqualTo(before + 1);
    }

    @Test
    void the_place_of_a_lease_that_waits_can_be_taken_from_it() throws Exception {
        a.acquire("4-1", "pool", "{\"permits\":4}");
        String waits = b.acquire("4-2", "pool", "{}").json("id");
        assertThat(delete(waits)).isEqualTo(204);
        assertThat(gateway.pool("pool").waiting()).isZero();
        assertThat(seen("").path("open").asInt()).isOne();
    }

    /** A stuck holder extends its lease as before, and must not get it back. */
    @Test
    void the_client_of_a_lease_that_an_operator_ends_learns_that_it_is_lost() throws Exception {
        URI uri = URI.create("http://127.0.0.1:"
                + gateway.context().getBean(LeaseApiServer.class).port());
        LeaseClientSettings settings = LeaseClientSettings.at(uri).withCredential("X-Tenant-Id", () -> "a");
        try (LeaseClient client = LeaseClient.to(settings)) {
            Lease lease = Objects.requireNonNull(
                    client.acquire(LeaseOptions.of("pool").withTtl(Duration.ofSeconds(2)))
                            .block());
            assertThat(delete(lease.id())).isEqualTo(204);
            assertThat(lease.lost()
                            .materialize()
                            .map(signal -> String.valueOf(signal.getThrowable()))
                            .block(Duration.ofSeconds(30)))
                    .startsWith(LeaseLostException.class.getName());
            assertThat(seen("").path("holding").asInt()).isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"x", "00000000000000000000000000000000", "%2e%2e"})
    void an_id_of_no_lease_is_404(String id) throws Exception {
        assertThat(delete(id)).isEqualTo(404);
        assertThat(Answer.to(url("/" + id)).status()).isEqualTo(404);
    }

    @Test
    void a_page_of_another_origin_cannot_end_a_lease() throws Exception {
        String id = a.acquire("7-1", "pool", "{}").json("id");
        assertThat(delete(id, "Origin", "http://evil.example")).isEqualTo(403);
        assertThat(seen("").path("holding").asInt()).isOne();
    }
}
