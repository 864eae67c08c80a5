package io.fairgate.gateway;

import static io.fairgate.gateway.RunningGateway.eventually;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.fairgate.client.Lease;
import io.fairgate.client.LeaseClient;
import io.fairgate.client.LeaseClientSettings;
import io.fairgate.client.LeaseException;
import io.fairgate.client.LeaseLostException;
import io.fairgate.client.LeaseOptions;
import io.fairgate.permit.PermitPool;
import io.fairgate.spring.fairshare.PermitPools;
import io.fairgate.status.PoolStatus;
import io.fairgate.testkit.TestTime;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntPredicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * The lease client against the server: each was written against a description of the other. If a client's time is virtual, the
 * server's is not: a heartbeat then arrives at once, which the server cannot notice.
 */
@Tag("long")
class ClientOnServerTest {

    private static final String NOWHERE = "http://127.0.0.1:9";
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final LeaseOptions ONE =
            LeaseOptions.of("pool").withTtl(Duration.ofMinutes(5)).withHolder("batch-7");
    private static final LeaseOptions ONE_IN_TIME = ONE.withMaxWait(PATIENCE);

    /** A third of five minutes and no more: a call times out after some seconds of the client's time. */
    private static final Duration BEAT = Duration.ofSeconds(101);

    @RegisterExtension
    final RunningGateway gateway = new RunningGateway();

    private final LeasingTenant a = new LeasingTenant(gateway, "a");
    private final LeasingTenant b = new LeasingTenant(gateway, "b");
    private final TestTime time = new TestTime();
    private final List<AutoCloseable> toClose = new ArrayList<>();

    /** The running work, until a test ends it. */
    private final Sinks.One<String> work = Sinks.one();

    private final AtomicReference<Lease> working = new AtomicReference<>();
    private final AtomicInteger cancelled = new AtomicInteger();

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : toClose) {
            each.close();
        }
    }

    private void start(String pool, String... options) {
        startWith(TestPolicy.onePool(NOWHERE, pool), options);
    }

    private void startWith(String policy, String... options) {
        LeasingTenant.start(gateway, policy, options);
    }

    private LeaseClient client() {
        return client(server(LeasingTenant.port(gateway)));
    }

    private LeaseClient client(LeaseClientSettings server) {
        LeaseClient client = LeaseClient.to(server);
        toClose.add(client);
        return client;
    }

    private static LeaseClientSettings server(int port) {
        return LeaseClientSettings.at(URI.create("http://127.0.0.1:" + port)).withCredential("X-Tenant-Id", () -> "a");
    }

    private LossyRelay relay(IntPredicate isLost) throws IOException {
        LossyRelay relay = new LossyRelay(LeasingTenant.port(gateway), isLost);
        toClose.add(relay);
        return relay;
    }

    private Mono<String> work(Lease lease) {
        return work.asMono().doOnSubscribe(any -> working.set(lease)).doOnCancel(cancelled::incrementAndGet);
    }

    private Lease awaitWork() {
        eventually(() -> assertThat(working.get()).as("a work that runs").isNotNull());
        return requireNonNull(working.get());
    }

    private static LeaseException refusal(Mono<?> mono) {
        return requireNonNull(catchThrowableOfType(LeaseException.class, () -> mono.block(PATIENCE)));
    }

    private static Throwable failure(CompletableFuture<?> result) {
        ExecutionException failed = catchThrowableOfType(
                ExecutionException.class, () -> result.get(PATIENCE.toSeconds(), TimeUnit.SECONDS));
        return requireNonNull(requireNonNull(failed).getCause());
    }

    // ---- a work with a lease ----

    @Test
    void a_permit_is_held_as_long_as_the_work_runs() throws Exception {
        start("permits: 1");
        CompletableFuture<String> result = client().withLease(ONE, this::work).toFuture();
        Lease lease = awaitWork();
        assertThat(gateway.pool("pool").inFlight()).isOne();
        assertThat(a.get(lease.id()).json())
                .containsEntry("state", "held")
                .containsEntry("holder", "batch-7")
                .containsEntry("token", lease.token());
        work.tryEmitValue("done");
        assertThat(result.get(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isEqualTo("done");
        assertThat(gateway.pool("pool").inFlight()).as("after the result").isZero();
    }

    @Test
    void the_permit_is_released_when_the_work_fails() {
        start("permits: 1");
        CompletableFuture<String> result = client().withLease(ONE, this::work).toFuture();
        awaitWork();
        work.tryEmitError(new IllegalStateException("broken"));
        assertThat(failure(result)).isInstanceOf(IllegalStateException.class).hasMessage("broken");
        assertThat(gateway.pool("pool").inFlight()).isZero();
    }

    @Test
    void the_permit_is_released_when_the_work_is_cancelled() {
        start("permits: 1");
        Disposable running = client().withLease(ONE, this::work).subscribe();
        awaitWork();
        running.dispose();
        gateway.awaitInFlight("pool", 0);
        assertThat(cancelled).hasValue(1);
    }

    @Test
    void a_cancelled_wait_leaves_no_place_in_the_queue() {
        start("permits: 1");
        String held = b.acquire("held", "pool", "{}").json("id");
        Disposable waiting = client().withLease(ONE_IN_TIME, this::work).subscribe();
        gateway.awaitWaiting("pool", 1);
        waiting.dispose();
        gateway.awaitWaiting("pool", 0);
        b.release(held);
        gateway.awaitInFlight("pool", 0);
        assertThat(working).hasNullValue();
    }

    @Test
    void a_waiting_holder_gets_the_released_permit() {
        start("permits: 1");
        String held = b.acquire("held", "pool", "{}").json("id");
        CompletableFuture<Integer> result =
                client().withLease(ONE_IN_TIME, lease -> inFlight("pool")).toFuture();
        gateway.awaitWaiting("pool", 1);
        b.release(held);
        assertThat(result.join()).isOne();
    }

    @Test
    void permits_of_several_pools_are_granted_and_released_together() {
        startWith(TestPolicy.onePool(NOWHERE, "permits: 2").replace("pools:\n", "pools:\n  other: { permits: 1 }\n"));
        Mono<Integer> both = client().withLease(
                        LeaseOptions.ofAll(Map.of("pool", 2, "other", 1)),
                        lease -> inFlight("pool").zipWith(inFlight("other"), (pool, other) -> 10 * pool + other));
        assertThat(both.block(PATIENCE)).isEqualTo(21);
        assertThat(gateway.pool("pool").inFlight()).isZero();
        assertThat(gateway.pool("other").inFlight()).isZero();
    }

    @Test
    void many_holders_never_exceed_the_pool() {
        start("permits: 2");
        AtomicInteger now = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        Mono<Integer> holder = client().withLease(
                        ONE_IN_TIME,
                        // Counted off before the work signals its end: doFinally does so after, when the release may
                        // have been sent.
                        lease -> Mono.using(
                                now::incrementAndGet,
                                count -> {
                                    most.accumulateAndGet(count, Math::max);
                                    return Mono.delay(Duration.ofMillis(1)).thenReturn(count);
                                },
                                count -> now.decrementAndGet()));
        SplittableRandom random = new SplittableRandom(7);
        List<Integer> done = Flux.range(0, 300)
                .flatMap(n -> n % 3 == 0 ? holder : holder.take(Duration.ofNanos(random.nextInt(20_000_000))), 8)
                .collectList()
                .block(PATIENCE);
        assertThat(done).hasSizeGreaterThanOrEqualTo(100);
        assertThat(most).hasValue(2);
    }

    // ---- beyond its time ----

    @Test
    void a_lease_is_extended_far_beyond_its_first_time_to_live() throws Exception {
        start("permits: 1");
        LeaseOptions brief = LeaseOptions.of("pool").withTtl(Duration.ofSeconds(4));
        CompletableFuture<String> result = client().withLease(brief, this::work).toFuture();
        Lease lease = awaitWork();
        long token = lease.token();
        assertThat(b.acquire("next", "pool", "{\"maxWait\":\"14s\",\"ttl\":\"5m\"}")
                        .status())
                .as("after three and a half times its time")
                .isEqualTo(202);
        assertThat(lease.isHeld()).isTrue();
        assertThat(lease.token()).as("never lost, never restored").isEqualTo(token);
        work.tryEmitValue("done");
        result.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        Answer next = b.acquire("next", "pool", "{\"maxWait\":\"30s\"}");
        assertThat(next.status()).isEqualTo(201);
        b.release(next.json("id"));
    }

    @Test
    void a_lease_that_the_server_has_ended_ends_the_work() {
        start("permits: 1");
        CompletableFuture<String> result = client(
                        server(LeasingTenant.port(gateway)).withTime(time))
                .withLease(ONE, this::work)
                .toFuture();
        Lease lease = awaitWork();
        a.release(lease.id());
        time.advanceBy(BEAT);
        assertThat(failure(result))
                .isInstanceOfSatisfying(
                        LeaseLostException.class, lost -> assertThat(lost.id()).isEqualTo(lease.id()))
                .cause()
                .isInstanceOfSatisfying(
                        LeaseException.class,
                        cause -> assertThat(cause.reason()).isEqualTo("lease-ended"));
        assertThat(cancelled).hasValue(1);
        assertThat(gateway.pool("pool").inFlight()).isZero();
    }

    @Test
    void a_disconnected_holder_stops_and_the_next_gets_its_permit() throws Exception {
        start("permits: 1");
        LossyRelay relay = relay(n -> false);
        LeaseOptions brief = LeaseOptions.of("pool").withTtl(Duration.ofSeconds(1));
        CompletableFuture<String> result =
                client(server(relay.port())).withLease(brief, this::work).toFuture();
        awaitWork();
        CompletableFuture<Answer> next = b.acquiring("next", "pool", "{\"maxWait\":\"30s\",\"ttl\":\"5m\"}");
        gateway.awaitWaiting("pool", 1);
        relay.close();
        assertThat(failure(result)).isInstanceOf(LeaseLostException.class);
        assertThat(cancelled).hasValue(1);
        assertThat(next.join().status()).isEqualTo(201);
        b.release(next.join().json("id"));
    }

    private static final String KEY = "--fairgate.leases.receipt-key=MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=";

    @Test
    void a_restarted_server_restores_held_leases_and_the_work_continues() throws Exception {
        start("permits: 2", KEY);
        int port = LeasingTenant.port(gateway);
        CompletableFuture<String> result = client(server(port).withTime(time))
                .withLease(LeaseOptions.of("pool", 2).withTtl(Duration.ofMinutes(5)), this::work)
                .toFuture();
        Lease lease = awaitWork();
        long token = lease.token();
        gateway.close();
        start("permits: 2", "--fairgate.leases.port=" + port, KEY);
        assertThat(gateway.pool("pool").inFlight())
                .as("in a server without leases")
                .isZero();
        String early =
                b.acquire("early", "pool", "{\"permits\":1,\"ttl\":\"5m\"}").json("id");
        assertThat(b.acquire("next", "pool", "{\"permits\":2,\"ttl\":\"5m\"}").status())
                .isEqualTo(202);

        time.advanceBy(BEAT);
        gateway.awaitInFlight("pool", 3);
        eventually(() -> assertThat(lease.token()).isGreaterThan(token));
        assertThat(lease.isHeld()).isTrue();
        b.release(early);
        assertThat(b.acquire("next", "pool", "{\"permits\":2,\"ttl\":\"5m\"}").status())
                .isEqualTo(202);
        assertThat(result).isNotDone();
        assertThat(cancelled).hasValue(0);
        work.tryEmitValue("done");
        assertThat(result.get(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isEqualTo("done");
        Answer next = b.acquire("next", "pool", "{\"permits\":2,\"maxWait\":\"30s\"}");
        assertThat(next.status()).isEqualTo(201);
        b.release(next.json("id"));
    }

    @Test
    void a_restarted_server_without_a_key_queues_leases_again() throws Exception {
        start("permits: 2");
        int port = LeasingTenant.port(gateway);
        CompletableFuture<String> result = client(server(port).withTime(time))
                .withLease(LeaseOptions.of("pool", 2).withTtl(Duration.ofMinutes(5)), this::work)
                .toFuture();
        Lease lease = awaitWork();
        long token = lease.token();
        gateway.close();
        start("permits: 2", "--fairgate.leases.port=" + port);
        String early =
                b.acquire("early", "pool", "{\"permits\":1,\"ttl\":\"5m\"}").json("id");

        time.advanceBy(BEAT);
        gateway.awaitWaiting("pool", 1);
        assertThat(gateway.pool("pool").inFlight()).isOne();
        assertThat(lease.isHeld()).isTrue();
        b.release(early);
        gateway.awaitInFlight("pool", 2);
        eventually(() -> {
            time.advanceBy(Duration.ofSeconds(2));
            assertThat(lease.token()).isGreaterThan(token);
        });
        work.tryEmitValue("done");
        assertThat(result.get(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isEqualTo("done");
    }

    // ---- answers that are lost ----

    @ParameterizedTest
    @ValueSource(ints = {2, 3})
    void with_lost_answers_a_lease_takes_and_releases_its_permit_once(int oneOf) throws Exception {
        start("permits: 3");
        LossyRelay relay = relay(n -> n % oneOf != 0);
        LeaseClient client = client(server(relay.port()));
        List<Integer> inFlight = Flux.range(0, 20)
                .concatMap(n -> client.withLease(ONE_IN_TIME, lease -> inFlight("pool")))
                .collectList()
                .block(PATIENCE);
        assertThat(inFlight).hasSize(20).containsOnly(1);
        assertThat(relay.lost()).as("each call at least once").isGreaterThanOrEqualTo(40);
    }

    @Test
    void after_a_lost_connection_a_waiting_lease_has_one_place() throws Exception {
        start("permits: 3");
        String held = b.acquire("held", "pool", "{\"permits\":3}").json("id");
        LossyRelay relay = relay(n -> false);
        CompletableFuture<String> result =
                client(server(relay.port())).withLease(ONE_IN_TIME, this::work).toFuture();
        gateway.awaitWaiting("pool", 1);
        relay.cut();
        b.release(held);
        awaitWork();
        assertThat(gateway.pool("pool").inFlight()).isOne();
        assertThat(gateway.pool("pool").waiting()).isZero();
        work.tryEmitValue("done");
        assertThat(result.get(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isEqualTo("done");
        assertThat(gateway.pool("pool").inFlight()).isZero();
    }

    @Test
    void a_lease_whose_answer_was_lost_is_released() throws Exception {
        start("permits: 1");
        LossyRelay relay = relay(n -> n == 1);
        LeaseException refusal = refusal(client(server(relay.port())).withLease(ONE, this::work));
        assertThat(refusal.reason()).isEqualTo("unreachable");
        assertThat(relay.lost()).isOne();
        assertThat(gateway.pool("pool").inFlight()).isZero();
        assertThat(working).hasNullValue();
    }

    // ---- refusals ----

    @Test
    void a_refusal_has_the_status_and_the_reason_of_the_server() {
        startWith(TestPolicy.onePool(NOWHERE, "permits: 2, max-waiting: 0")
                .replace("plan: {}", "plan: { quotas: [ { name: hourly, limit: 1, per: 1h } ] }")
                .replace("b: { plan: plan }", "b: { plan: free }")
                .replace("plans:\n", "plans:\n    free: {}\n"));
        LeaseClient client = client();
        assertRefused(client.withLease(LeaseOptions.of("pool", 3), this::work), 409, "never-fits");
        assertRefused(client.withLease(LeaseOptions.of("pond"), this::work), 404, "unknown-pool");
        LeaseClientSettings port =
                LeaseClientSettings.at(URI.create("http://127.0.0.1:" + LeasingTenant.port(gateway)));
        assertRefused(client(port).withLease(ONE_IN_TIME, this::work), 401, "missing");
        assertRefused(
                client(port.withCredential("X-Tenant-Id", () -> "x")).withLease(ONE_IN_TIME, this::work),
                403,
                "unknown-tenant");

        String held = b.acquire("held", "pool", "{\"permits\":2}").json("id");
        assertRefused(client.withLease(ONE, this::work), 503, "pool-queue-full");
        b.release(held);
        Integer inFlight = client.withLease(ONE, lease -> inFlight("pool")).block(PATIENCE);
        assertThat(inFlight).isOne();
        assertRefused(client.withLease(ONE_IN_TIME, this::work), 429, "quota");
        assertThat(working).hasNullValue();
    }

    private static void assertRefused(Mono<?> asked, int status, String reason) {
        LeaseException refusal = refusal(asked);
        assertThat(refusal.status() + " " + refusal.reason()).isEqualTo(status + " " + reason);
        assertThat(refusal.detail()).isNotBlank();
    }

    @Test
    void a_temporary_refusal_is_retried_after_the_announced_time() {
        startWith(TestPolicy.onePool(NOWHERE, "permits: 1")
                .replace("plan: {}", "plan: { quotas: [ { name: burst, limit: 1, per: 1s } ] }"));
        LeaseClient client = client();
        List<Integer> inFlight = Flux.range(0, 3)
                .concatMap(n -> client.withLease(ONE_IN_TIME, lease -> inFlight("pool")))
                .collectList()
                .block(PATIENCE);
        assertThat(inFlight).containsExactly(1, 1, 1);
    }

    @Test
    void a_wait_that_times_out_leaves_no_place() {
        start("permits: 1");
        String held = b.acquire("held", "pool", "{}").json("id");
        LeaseException refusal = refusal(client().withLease(ONE.withMaxWait(Duration.ofMillis(100)), this::work));
        assertThat(refusal.reason()).isEqualTo("max-wait");
        assertThat(gateway.pool("pool").waiting()).isZero();
        b.release(held);
    }

    private Mono<Integer> inFlight(String pool) {
        PermitPool permits =
                requireNonNull(gateway.context().getBean(PermitPools.class).get(pool));
        return permits.snapshot().map(PoolStatus::inFlight);
    }
}
