package io.fairgate.gateway;

import static io.fairgate.gateway.RunningGateway.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairgate.permit.PermitPool;
import io.fairgate.spring.fairshare.PermitPools;
import io.fairgate.status.PoolStatus.TenantStatus;
import io.fairgate.tenant.TenantId;
import io.fairgate.testkit.NothingLeft;
import java.io.IOException;
import java.net.ConnectException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A request holds its permit while the upstream works on it, even if the client has left, as {@code on-client-left} says.
 */
@Tag("long")
class WorkWithoutClientTest {

    private static final String TIMEOUT = "--spring.cloud.gateway.server.webflux.httpclient.response-timeout=";

    /** Long enough for a request to reach the upstream on a busy machine. */
    private static final String RESPONSE_TIMEOUT = TIMEOUT + "2s";

    /** So many attempts that some reach the upstream. */
    private static final int RETRIES = 10;

    @RegisterExtension
    final RunningGateway gateway = new RunningGateway();

    @RegisterExtension
    final ScriptedUpstream upstream = new ScriptedUpstream();

    private final UninterruptedWork work = new UninterruptedWork();

    private void start(String pool, String... options) {
        upstream.on("/fair/work", work);
        gateway.start(policy(pool), options);
    }

    private String policy(String pool) {
        return TestPolicy.onePool(upstream.url(), "max-wait: 60s, " + pool);
    }

    private int withoutClient() {
        return (int) MetricsPage.of(gateway).value("fairgate_permits_without_client", "pool", "pool");
    }

    private double permitSeconds(String tenant) {
        return MetricsPage.of(gateway).value("fairgate_permit_seconds_total", "pool", "pool", "tenant", tenant);
    }

    private void awaitWork(int begun) {
        eventually(() -> assertThat(work.begun()).isEqualTo(begun));
    }

    private static void await(CountDownLatch event) throws InterruptedException {
        assertThat(event.await(20, TimeUnit.SECONDS)).isTrue();
    }

    /** The permit is still held: another request waits for it, and the upstream works on one request. */
    private RawClient assertPermitIsHeld() throws IOException {
        RawClient next = new RawClient(gateway.port()).get("/fair/work", "b");
        gateway.awaitWaiting("pool", 1);
        eventually(() -> assertThat(withoutClient()).isOne());
        assertThat(gateway.pool("pool").inFlight()).isOne();
        assertThat(work.begun()).isOne();
        return next;
    }

    private void assertPermitGoesOnWhenTheWorkEnds(RawClient next) throws IOException {
        work.end();
        assertThat(next.readUntil("ok")).contains("200 OK");
        next.close();
        assertThat(work.highest()).isOne();
        assertThat(work.begun()).isEqualTo(2);
        eventually(() -> assertThat(withoutClient()).isZero());
    }

    @ParameterizedTest
    @EnumSource(LeaveBy.class)
    void a_permit_is_held_for_work_whose_client_has_left_until_the_upstream_answers(LeaveBy way) throws Exception {
        holdsThePermitUntilTheUpstreamAnswers(way);
    }

    @ParameterizedTest
    @EnumSource(LeaveBy.class)
    void a_permit_is_held_for_work_without_a_client_also_through_the_filter_chain(LeaveBy way) throws Exception {
        holdsThePermitUntilTheUpstreamAnswers(way, "--fairgate.forwarding=filter-chain");
    }

    private void holdsThePermitUntilTheUpstreamAnswers(LeaveBy way, String... options) throws Exception {
        start("permits: 1", options);
        LeaveBy.Client client = way.get(gateway, "/fair/work", "a");
        awaitWork(1);
        client.leave();
        try (RawClient next = assertPermitIsHeld()) {
            assertPermitGoesOnWhenTheWorkEnds(next);
        }
    }

    @Test
    void a_permit_is_held_for_far_longer_than_a_connection_takes_to_close() throws Exception {
        UninterruptedWork lengthy = new UninterruptedWork(() -> 1500);
        upstream.on("/fair/long", lengthy);
        start("permits: 1");
        RawClient client = new RawClient(gateway.port()).get("/fair/long", "a");
        eventually(() -> assertThat(lengthy.begun()).isOne());
        client.reset();
        try (RawClient next = new RawClient(gateway.port())) {
            assertThat(next.get("/fair/long", "b").readUntil("ok")).contains("200 OK");
        }
        assertThat(lengthy.highest()).isOne();
    }

    @Test
    void a_request_whose_client_left_is_charged_with_its_permit_time() throws Exception {
        upstream.on("/fair/work", work);
        gateway.start(policy("permits: 1")
                .replace("plan: {}", "plan: { quotas: [ { name: total, limit: 10, per: total } ] }"));
        RawClient client = new RawClient(gateway.port()).get("/fair/work", "a");
        awaitWork(1);
        client.reset();
        eventually(() -> assertThat(withoutClient()).isOne());
        assertThat(gateway.pool("pool").tenants())
                .filteredOn(tenant -> tenant.tenant().equals(TenantId.of("a")))
                .extracting(TenantStatus::inFlight)
                .containsExactly(1);
        double left = permitSeconds("a");
        eventually(() -> assertThat(permitSeconds("a")).isGreaterThan(left));
        work.end();
        gateway.awaitInFlight("pool", 0);
        MetricsPage metrics = MetricsPage.of(gateway);
        assertThat(metrics.value("fairgate_hold_seconds_count", "pool", "pool", "tenant", "a"))
                .isOne();
        assertThat(metrics.value("fairgate_quota_remaining", "tenant", "a", "quota", "total"))
                .isEqualTo(9);
    }

    @Test
    void the_connection_is_closed_when_headers_arrive_without_a_client() throws Exception {
        CountDownLatch answer = new CountDownLatch(1);
        CountDownLatch closed = new CountDownLatch(1);
        CountDownLatch begun = new CountDownLatch(1);
        upstream.on("/fair/stream", exchange -> {
            begun.countDown();
            exchange.await(answer);
            exchange.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n");
            exchange.awaitClose();
            closed.countDown();
        });
        start("permits: 1");
        RawClient client = new RawClient(gateway.port()).get("/fair/stream", "a");
        await(begun);
        client.reset();
        eventually(() -> assertThat(withoutClient()).isOne());
        answer.countDown();
        await(closed);
        gateway.awaitInFlight("pool", 0);
    }

    @Test
    void the_permit_is_released_when_the_upstream_closes_without_an_answer() throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        CountDownLatch begun = new CountDownLatch(1);
        upstream.on("/fair/lost", exchange -> {
            begun.countDown();
            exchange.await(end);
            exchange.reset();
        });
        start("permits: 1");
        RawClient client = new RawClient(gateway.port()).get("/fair/lost", "a");
        await(begun);
        client.close();
        eventually(() -> assertThat(withoutClient()).isOne());
        end.countDown();
        gateway.awaitInFlight("pool", 0);
        assertThat(withoutClient()).isZero();
    }

    @Test
    void a_client_that_waits_for_too_long_gets_504_at_once_and_the_work_holds_its_permit() throws Exception {
        start("permits: 1", RESPONSE_TIMEOUT);
        try (RawClient client = new RawClient(gateway.port()).get("/fair/work", "a")) {
            assertThat(client.readUntil("}")).contains("504 Gateway Timeout", "upstream-timeout");
            assertPermitIsHeld().reset();
            gateway.awaitWaiting("pool", 0);
            work.end();
            gateway.awaitInFlight("pool", 0);
            assertThat(client.get("/fair/work", "a").readUntil("\r\n\r\n")).contains("200 OK");
        }
        assertThat(work.highest()).isOne();
    }

    private void startWithRetries(UninterruptedWork work) {
        upstream.on("/fair/work", work);
        gateway.start(
                policy("permits: 1")
                        .replace("[ \"FairShare=pool\" ]", "[ \"FairShare=pool\", \"Retry=%d\" ]".formatted(RETRIES)),
                TIMEOUT + "200ms");
    }

    @Test
    void a_retry_is_not_sent_while_the_upstream_works_on_the_first_attempt() throws Exception {
        startWithRetries(work);
        try (RawClient client = new RawClient(gateway.port()).get("/fair/work", "a")) {
            assertThat(client.readUntil("}")).contains("504 Gateway Timeout", "upstream-timeout");
            try (RawClient next = assertPermitIsHeld()) {
                next.reset();
            }
        }
        work.end();
    }

    @Test
    void a_retry_is_sent_when_the_upstream_has_ended_the_first_attempt() throws Exception {
        UninterruptedWork each = new UninterruptedWork(() -> 300);
        startWithRetries(each);
        try (RawClient client = new RawClient(gateway.port()).get("/fair/work", "a")) {
            assertThat(client.readUntil("}")).contains("504 Gateway Timeout", "upstream-timeout");
        }
        gateway.awaitInFlight("pool", 0);
        assertThat(each.begun()).isGreaterThan(1);
        assertThat(each.highest()).isOne();
    }

    @Test
    void no_work_holds_its_permit_for_longer_than_max_hold() throws Exception {
        CountDownLatch closed = new CountDownLatch(1);
        CountDownLatch begun = new CountDownLatch(1);
        upstream.on("/fair/forever", exchange -> {
            begun.countDown();
            exchange.awaitClose();
            closed.countDown();
        });
        start("permits: 1, max-hold: 500ms");
        RawClient client = new RawClient(gateway.port()).get("/fair/forever", "a");
        await(begun);
        client.reset();
        await(closed);
        gateway.awaitInFlight("pool", 0);
        assertThat(withoutClient()).isZero();
    }

    private enum Giving {
        BY_LEAVING,
        BY_A_TIME_OUT
    }

    @SuppressWarnings("try") // the client is also closed earlier
    @ParameterizedTest
    @EnumSource(Giving.class)
    void an_incompletely_sent_request_is_cancelled_at_once(Giving up) throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CompletableFuture<String> got = new CompletableFuture<>();
        upstream.onHead("/fair/upload", exchange -> {
            begun.countDown();
            got.complete(new String(exchange.in().readAllBytes(), StandardCharsets.US_ASCII));
        });
        if (up == Giving.BY_LEAVING) {
            start("permits: 1");
        } else {
            start("permits: 1", RESPONSE_TIMEOUT);
        }
        try (RawClient client = new RawClient(gateway.port())
                .send("POST /fair/upload HTTP/1.1\r\nHost: t\r\nX-Tenant-Id: a\r\nTransfer-Encoding: chunked\r\n\r\n")
                .send("4\r\npart\r\n")) {
            await(begun);
            if (up == Giving.BY_LEAVING) {
                client.close();
            }
            assertThat(got.get(20, TimeUnit.SECONDS))
                    .as("without the chunk that ends a body")
                    .doesNotContain("0\r\n\r\n");
            gateway.awaitInFlight("pool", 0);
        }
    }

    @ParameterizedTest
    @EnumSource(Giving.class)
    void a_body_of_full_length_counts_as_sent_without_its_end(Giving up) throws Exception {
        if (up == Giving.BY_LEAVING) {
            start("permits: 1");
        } else {
            start("permits: 1", RESPONSE_TIMEOUT);
        }
        LeaveBy.Client client = LeaveBy.endlessPost(gateway, "/fair/work", "a", "body");
        awaitWork(1);
        if (up == Giving.BY_LEAVING) {
            client.leave();
        }
        assertPermitIsHeld().reset();
        gateway.awaitWaiting("pool", 0);
        work.end();
        gateway.awaitInFlight("pool", 0);
        client.leave();
    }

    @Test
    void with_close_the_permit_is_released_while_the_upstream_still_works() throws Exception {
        start("permits: 1, on-client-left: close");
        for (int left = 1; left <= 3; left++) {
            RawClient client = new RawClient(gateway.port()).get("/fair/work", "a");
            awaitWork(left);
            client.reset();
            gateway.awaitInFlight("pool", 0);
        }
        assertThat(work.highest()).isEqualTo(3);
        work.end();
    }

    @Test
    void a_route_overrides_its_pool() throws Exception {
        upstream.on("/fair/work", work);
        gateway.start(policy("permits: 1")
                .replace(
                        "[ \"FairShare=pool\" ]",
                        "[ { name: FairShare, args: { pool: pool, on-client-left: close } } ]"));
        RawClient client = new RawClient(gateway.port()).get("/fair/work", "a");
        awaitWork(1);
        client.reset();
        gateway.awaitInFlight("pool", 0);
        assertThat(work.now()).isOne();
        work.end();
    }

    @Test
    void the_next_request_follows_a_changed_policy(@TempDir Path folder) throws Exception {
        upstream.on("/fair/work", work);
        PolicyFileOnDisk file = new PolicyFileOnDisk(folder.resolve("fairgate.yml"));
        gateway.start(file.write(policy("permits: 2")).path(), "--fairgate.watch-policy=10ms");
        RawClient before = new RawClient(gateway.port()).get("/fair/work", "a");
        awaitWork(1);
        file.write(policy("permits: 2, on-client-left: close"));
        eventually(() -> assertThat(MetricsPage.of(gateway).value("fairgate_policy_reloads_total", "result", "success"))
                .isOne());
        RawClient after = new RawClient(gateway.port()).get("/fair/work", "a");
        awaitWork(2);
        after.reset();
        gateway.awaitInFlight("pool", 1);
        before.reset();
        eventually(() -> assertThat(withoutClient()).isOne());
        assertThat(gateway.pool("pool").inFlight()).isOne();
        work.end();
    }

    @Test
    void the_access_log_reports_a_client_that_left_once_and_at_once(@TempDir Path folder) throws Exception {
        start(
                "permits: 1",
                "--logging.level.io.fairgate=info",
                "--fairgate.access-log=true",
                "--fairgate.log-files.directory=" + folder);
        Path log = folder.resolve("access.log");
        RawClient client = new RawClient(gateway.port()).get("/fair/work", "a");
        awaitWork(1);
        client.reset();
        eventually(() -> assertThat(log).content().contains("\"end\":\"client-left\""));
        assertThat(gateway.pool("pool").inFlight()).isOne();
        work.end();
        gateway.awaitInFlight("pool", 0);
        gateway.close();
        assertThat(log).content().hasLineCount(1);
    }

    @Test
    void a_shutdown_waits_for_work_without_a_client() throws Exception {
        start("permits: 1");
        RawClient client = new RawClient(gateway.port()).get("/fair/work", "a");
        awaitWork(1);
        client.reset();
        eventually(() -> assertThat(withoutClient()).isOne());
        PermitPool pool = Objects.requireNonNull(
                gateway.context().getBean(PermitPools.class).get("pool"));
        int port = gateway.port();
        Thread shutdown = new Thread(gateway::close, "shutdown");
        shutdown.start();
        eventually(() -> assertThatThrownBy(() -> new RawClient(port).close()).isInstanceOf(ConnectException.class));
        assertThat(NothingLeft.statusOf(pool).inFlight()).isOne();
        assertThat(shutdown.isAlive()).isTrue();
        work.end();
        shutdown.join();
        assertThat(NothingLeft.statusOf(pool).inFlight()).isZero();
    }
}
