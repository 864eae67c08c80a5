package io.fairgate.gateway.throttle;

import static io.fairgate.gateway.throttle.RunningThrottle.OK;
import static io.fairgate.gateway.throttle.RunningThrottle.UNKNOWN_PEER;
import static io.fairgate.gateway.throttle.RunningThrottle.acquired;
import static io.fairgate.gateway.throttle.RunningThrottle.domain;
import static io.fairgate.gateway.throttle.RunningThrottle.json;
import static io.fairgate.gateway.throttle.RunningThrottle.pending;
import static io.fairgate.gateway.throttle.RunningThrottle.text;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.gateway.http.HttpListener;
import io.fairgate.gateway.http.RouteTable;
import io.fairgate.gateway.throttle.RunningThrottle.Seen;
import io.fairgate.lease.FencingTokens;
import io.fairgate.lease.LeaseHolder;
import io.fairgate.lease.Leases;
import io.fairgate.lease.embedded.EmbeddedLeases;
import io.fairgate.permit.PoolListener;
import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.embedded.EmbeddedPermitPool;
import io.fairgate.shares.ShareSettings;
import io.fairgate.shares.TenantShares;
import io.fairgate.status.PoolStatus;
import io.fairgate.tenant.TenantId;
import io.fairgate.testkit.NothingLeft;
import io.fairgate.testkit.TestTime;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.hamcrest.Matchers;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.http.HttpStatus;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.handler.ResponseStatusExceptionHandler;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * The protocol beside other things: several tenants, and pools that others use and close.
 */
class ThrottleTenantsTest {

    private static final Duration TEN_SECONDS = Duration.ofSeconds(10);
    private static final Seen PENDING = text(202, "Ok");
    private static final ThrottleSettings SETTINGS = ThrottleSettings.STANDARD.with(15, 10);

    @RegisterExtension
    final NothingLeft nothingLeft = new NothingLeft();

    private static final Seen QUOTA_USED_UP = domain(503, "The quota of this tenant is used up.");

    private final TestTime time = nothingLeft.watch(new TestTime());
    private final EmbeddedPermitPool pool = nothingLeft.watch(new EmbeddedPermitPool(
            "A",
            PoolSettings.ofPermits(4).withMaxWaiting(2),
            new TenantShares(
                    Map.of(TenantId.of("capped"), ShareSettings.EQUAL.withMaxInFlight(2)), ShareSettings.EQUAL),
            time,
            PoolListener.NONE));
    private final Semaphore semaphore = new Semaphore(pool, 4, 0);
    private final Leases peers =
            new EmbeddedLeases(Map.of("A", pool)::get, time, new FencingTokens(() -> Instant.EPOCH));
    private final ByHeader tenants = new ByHeader();
    private final HttpListener server = HttpListener.listen(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
            routes(TheseSemaphores.of(semaphore)),
            List.of(new ResponseStatusExceptionHandler()),
            target -> "");

    private RouteTable routes(Semaphores semaphores) {
        return new RouteTable(
                new ThrottleProtocol(peers, semaphores, tenants, SETTINGS, time).routes(),
                ThrottleProtocol::notFound,
                call -> call.answer(HttpStatus.METHOD_NOT_ALLOWED));
    }

    /** The tenant is the value of the header. */
    private static final class ByHeader implements Tenants {
        private final Map<String, Long> families = new HashMap<>();
        private Mono<Charge> charge = Mono.just(Charge.NONE);

        @Override
        public Mono<PeerOwner> owner(ServerWebExchange exchange) {
            String name = exchange.getRequest().getHeaders().getFirst("X-Tenant-Id");
            return name == null
                    ? Mono.error(new ResponseStatusException(HttpStatus.UNAUTHORIZED))
                    : Mono.just(new PeerOwner(LeaseHolder.of(TenantId.of(name), "throttle"), family(name)));
        }

        private synchronized long family(String name) {
            return families.computeIfAbsent(name, next -> families.size() + 1L);
        }

        @Override
        public Mono<Charge> charge(ThrottleRequest request) {
            return charge;
        }
    }

    @AfterEach
    void end() {
        peers.ids().concatMap(peers::release).blockLast();
        server.end(TEN_SECONDS);
    }

    private Seen ask(String tenant, String method, String path, String body) {
        HttpRequest request = RunningThrottle.request(server.port(), method, path, "application/json", body);
        HttpRequest named = tenant.isEmpty()
                ? request
                : HttpRequest.newBuilder(request, (name, value) -> true)
                        .header("X-Tenant-Id", tenant)
                        .build();
        return RunningThrottle.seen(RunningThrottle.send(named).join());
    }

    private String peer(String tenant) {
        return ask(tenant, "POST", "/new_peer", "{\"expires_in\":\"10m\"}").body();
    }

    private Seen lock(String tenant, String peer, int count) {
        return ask(tenant, "PUT", "/peers/" + peer + "/A", Integer.toString(count));
    }

    private CompletableFuture<HttpResponse<String>> blocked(String tenant, String peer) {
        return RunningThrottle.send(HttpRequest.newBuilder(
                        RunningThrottle.request(
                                server.port(), "PUT", "/peers/" + peer + "/A?block_for=10s", "application/json", "1"),
                        (name, value) -> true)
                .header("X-Tenant-Id", tenant)
                .build());
    }

    private Seen restore(String tenant, String peer, int count) {
        return ask(
                tenant,
                "POST",
                "/restore",
                "{\"expires_in\":\"1m\",\"peer_id\":%s,\"acquired\":{\"A\":%d}}".formatted(peer, count));
    }

    private PoolStatus status() {
        return NothingLeft.statusOf(pool);
    }

    @Test
    void a_peer_of_another_tenant_is_an_unknown_peer() {
        String peer = peer("acme");
        assertThat(lock("acme", peer, 2)).isEqualTo(acquired(peer));
        String path = "/peers/" + peer;
        assertThat(ask("globex", "PUT", path, "{\"expires_in\":\"0s\"}")).isEqualTo(UNKNOWN_PEER);
        assertThat(ask("globex", "GET", path + "/is_acquired", "")).isEqualTo(UNKNOWN_PEER);
        assertThat(lock("globex", peer, 1)).isEqualTo(UNKNOWN_PEER);
        assertThat(ask("globex", "PUT", path + "/A?expires_in=0s", "2")).isEqualTo(UNKNOWN_PEER);
        assertThat(ask("globex", "DELETE", path + "/A", "")).isEqualTo(UNKNOWN_PEER);
        assertThat(ask("globex", "DELETE", path, "")).isEqualTo(json(200, "\"Peer not found\""));
        assertThat(ask("globex", "GET", "/peers/", "")).isEqualTo(json(200, "[]"));
        assertThat(restore("globex", peer, 1))
                .as("one of its own, of the same number")
                .isEqualTo(OK);
        assertThat(ask("globex", "DELETE", path, "")).isEqualTo(json(200, "\"Peer released\""));
        assertThat(ask("acme", "GET", "/peers/", "")).isEqualTo(json(200, "[{\"id\":" + peer + "}]"));
        assertThat(status().tenants())
                .filteredOn(tenant -> tenant.inFlight() > 0)
                .extracting(PoolStatus.TenantStatus::tenant)
                .containsExactly(TenantId.of("acme"));
    }

    @Test
    void a_client_without_a_tenant_can_use_only_public_calls() {
        for (String route : List.of(
                "POST /new_peer",
                "GET /peers/",
                "PUT /peers/1",
                "DELETE /peers/1",
                "GET /peers/1/is_acquired",
                "PUT /peers/1/A",
                "DELETE /peers/1/A",
                "GET /remainder?semaphore=A",
                "POST /restore")) {
            int space = route.indexOf(' ');
            assertThat(ask("", route.substring(0, space), route.substring(space + 1), "x")
                            .status())
                    .as(route)
                    .isEqualTo(401);
        }
        for (String route : List.of("/", "/health", "/version", "/metrics", "/favicon.ico")) {
            assertThat(ask("", "GET", route, "").status()).as(route).isEqualTo(200);
        }
    }

    @Test
    void a_refusal_by_a_pool_is_503_and_never_429() {
        String holder = peer("acme");
        lock("acme", holder, 4);
        for (int i = 0; i < 2; i++) {
            String waiting = peer("acme");
            assertThat(lock("acme", waiting, 1)).isEqualTo(pending(waiting));
        }
        String late = peer("acme");
        assertThat(lock("acme", late, 1)).isEqualTo(domain(503, "Too many locks are pending."));
        assertThat(ask("acme", "PUT", "/peers/" + late + "/A?block_for=10s", "1"))
                .isEqualTo(domain(503, "Too many locks are pending."));
    }

    @Test
    void a_count_beyond_the_cap_of_the_tenant_can_never_be_acquired() {
        String peer = peer("capped");
        assertThat(lock("capped", peer, 3))
                .isEqualTo(domain(
                        409,
                        "Lock can never be acquired. Lock asks for count 3, more than this tenant may ever hold."));
        assertThat(lock("capped", peer, 2)).isEqualTo(acquired(peer));
    }

    // ---- charges ----

    /** Counts the charges, and refuses while a test says so. */
    private final AtomicInteger charged = new AtomicInteger();

    private Tenants.Charge counted(Mono<Void> made) {
        return new Tenants.Charge(made.doOnSubscribe(begun -> charged.incrementAndGet()));
    }

    @Test
    void a_lock_is_charged_once_at_its_grant_in_spite_of_repeated_calls() {
        tenants.charge = Mono.just(counted(Mono.empty()));
        String holder = peer("acme");
        assertThat(lock("acme", holder, 4)).isEqualTo(acquired(holder));
        assertThat(lock("acme", holder, 4)).isEqualTo(acquired(holder));
        assertThat(charged).hasValue(1);
        String waiting = peer("acme");
        assertThat(lock("acme", waiting, 1)).isEqualTo(pending(waiting));
        assertThat(lock("acme", waiting, 1)).isEqualTo(pending(waiting));
        assertThat(charged).as("not before it is granted").hasValue(1);
        ask("acme", "DELETE", "/peers/" + holder, "");
        assertThat(charged).as("although no call waits").hasValue(2);
        assertThat(lock("acme", waiting, 1)).isEqualTo(acquired(waiting));
        assertThat(charged).hasValue(2);
        ask("acme", "DELETE", "/peers/" + waiting + "/A", "");
        assertThat(lock("acme", waiting, 1)).isEqualTo(acquired(waiting));
        assertThat(charged).as("another lock").hasValue(3);
    }

    @Test
    void a_pending_lock_that_is_released_is_not_charged() {
        tenants.charge = Mono.just(counted(Mono.empty()));
        String holder = peer("acme");
        lock("acme", holder, 4);
        String waiting = peer("acme");
        lock("acme", waiting, 1);
        ask("acme", "DELETE", "/peers/" + waiting + "/A", "");
        ask("acme", "DELETE", "/peers/" + holder, "");
        assertThat(charged).hasValue(1);
    }

    @Test
    void a_lock_beyond_the_quota_is_503_and_does_not_wait() {
        tenants.charge = Mono.error(ThrottleError.QUOTA_USED_UP);
        String peer = peer("acme");
        assertThat(lock("acme", peer, 1)).isEqualTo(QUOTA_USED_UP);
        assertThat(status().inFlight()).isZero();
        assertThat(ask("acme", "PUT", "/peers/" + peer + "/B", "1")).isEqualTo(domain(400, "Unknown semaphore"));
        assertThat(ask("acme", "GET", "/peers/" + peer + "/is_acquired", "")).isEqualTo(json(200, "true"));
        tenants.charge = Mono.just(Tenants.Charge.NONE);
        assertThat(lock("acme", peer, 1)).isEqualTo(acquired(peer));
        tenants.charge = Mono.error(ThrottleError.QUOTA_USED_UP);
        assertThat(lock("acme", peer, 1)).as("it is held already").isEqualTo(acquired(peer));
    }

    @Test
    void a_lock_whose_charge_fails_is_released_and_never_reported_as_held() {
        tenants.charge = Mono.just(counted(Mono.error(ThrottleError.QUOTA_USED_UP)));
        String peer = peer("acme");
        assertThat(lock("acme", peer, 1)).isEqualTo(QUOTA_USED_UP);
        assertThat(status().inFlight()).isZero();
        assertThat(lock("acme", peer, 1)).as("a new attempt").isEqualTo(QUOTA_USED_UP);
        assertThat(charged).hasValue(2);
        assertThat(ask("acme", "PUT", "/peers/" + peer, "{\"expires_in\":\"5m\"}"))
                .isEqualTo(OK);
    }

    @Test
    void a_blocked_call_gets_the_refused_charge() {
        String holder = peer("acme");
        lock("acme", holder, 4);
        Sinks.Empty<Void> journal = Sinks.empty();
        tenants.charge = Mono.just(counted(journal.asMono()));
        String waiting = peer("acme");
        var blocked = blocked("acme", waiting);
        Awaitility.await().until(() -> status().waiting() == 1);
        ask("acme", "DELETE", "/peers/" + holder, "");
        Awaitility.await().untilAtomic(charged, Matchers.is(1));
        var again = blocked("acme", waiting);
        assertThat(blocked).as("no answer before the charge").isNotDone();
        journal.tryEmitError(ThrottleError.QUOTA_USED_UP);
        assertThat(RunningThrottle.seen(blocked.join())).isEqualTo(QUOTA_USED_UP);
        assertThat(RunningThrottle.seen(again.join())).isEqualTo(QUOTA_USED_UP);
        assertThat(status().inFlight()).isZero();
    }

    // ---- bounds of a tenant ----

    @Test
    void the_peers_of_each_owner_are_bounded() {
        for (int i = 0; i < 10; i++) {
            peer("acme");
        }
        assertThat(ask("acme", "POST", "/new_peer", "{\"expires_in\":\"10m\"}"))
                .isEqualTo(domain(503, "Too many peers."));
        assertThat(restore("acme", "4711", 1)).isEqualTo(domain(503, "Too many peers."));
        String other = peer("globex");
        assertThat(lock("globex", other, 1)).isEqualTo(acquired(other));
        time.advanceBy(Duration.ofMinutes(10));
        assertThat(ask("acme", "GET", "/peers/", "")).isEqualTo(json(200, "[]"));
        peer("acme");
    }

    @Test
    void the_peers_of_all_owners_together_are_bounded() {
        for (int i = 0; i < 15; i++) {
            peer("owner" + i);
        }
        assertThat(ask("acme", "POST", "/new_peer", "{\"expires_in\":\"10m\"}"))
                .isEqualTo(domain(503, "Too many peers."));
    }

    @Test
    void a_restore_beyond_the_tenants_cap_is_refused() {
        assertThat(restore("capped", "7", 3))
                .isEqualTo(domain(
                        409,
                        "Lock can never be acquired. Lock asks for count 3, more than this tenant may ever hold."));
        assertThat(status().inFlight()).isZero();
    }

    @Test
    void a_restore_costs_as_much_as_a_lock_when_it_has_its_locks() {
        tenants.charge = Mono.just(counted(Mono.empty()));
        assertThat(restore("acme", "7", 3)).isEqualTo(OK);
        assertThat(charged).hasValue(1);
        assertThat(restore("acme", "8", 2)).isEqualTo(PENDING);
        assertThat(restore("acme", "8", 2)).isEqualTo(PENDING);
        assertThat(charged).hasValue(1);
        ask("acme", "DELETE", "/peers/7", "");
        assertThat(charged).hasValue(2);
        assertThat(restore("acme", "8", 2)).isEqualTo(OK);
        assertThat(charged).hasValue(2);
        tenants.charge = Mono.just(counted(Mono.error(ThrottleError.QUOTA_USED_UP)));
        assertThat(restore("acme", "9", 1)).isEqualTo(QUOTA_USED_UP);
        assertThat(lock("acme", "9", 1)).isEqualTo(UNKNOWN_PEER);
        assertThat(status().inFlight()).isEqualTo(2);
    }

    @Test
    void a_restore_does_not_overtake_waiting_peers_nor_exceed_the_cap() {
        String holder = peer("acme");
        assertThat(lock("acme", holder, 4)).isEqualTo(acquired(holder));
        assertThat(restore("globex", "1", 1)).isEqualTo(PENDING);
        assertThat(restore("capped", "2", 2)).isEqualTo(PENDING);
        assertThat(status().inFlight()).isEqualTo(4);
        ask("acme", "DELETE", "/peers/" + holder, "");
        assertThat(restore("globex", "1", 1)).isEqualTo(OK);
        assertThat(restore("capped", "2", 2)).isEqualTo(OK);
        assertThat(restore("capped", "3", 1)).as("one is free").isEqualTo(PENDING);
        assertThat(status().inFlight()).isEqualTo(3);
    }

    // ---- shared pools ----

    @Test
    void a_pool_that_is_being_closed_ends_every_wait_with_503() {
        String holder = peer("acme");
        lock("acme", holder, 4);
        String waiting = peer("acme");
        var blocked = blocked("acme", waiting);
        Awaitility.await().until(() -> status().waiting() == 1);
        pool.close(Duration.ZERO).subscribe();
        assertThat(RunningThrottle.seen(blocked.join())).isEqualTo(domain(503, "Shutting down."));
        assertThat(lock("acme", waiting, 1)).isEqualTo(domain(503, "Shutting down."));
        assertThat(ask("acme", "GET", "/peers/" + waiting + "/is_acquired", "")).isEqualTo(json(200, "true"));
        assertThat(ask("acme", "PUT", "/peers/" + waiting, "{\"expires_in\":\"5m\"}"))
                .isEqualTo(OK);
    }

    @Test
    void health_is_503_if_a_pool_does_not_answer() {
        assertThat(ask("", "GET", "/health", "")).isEqualTo(OK);
        Semaphore dead = new Semaphore(new DeadPool(), 1, 0);
        HttpListener other = HttpListener.listen(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                routes(TheseSemaphores.of(semaphore, dead)),
                List.of(),
                target -> "");
        try {
            var answer = RunningThrottle.send(RunningThrottle.request(other.port(), "GET", "/health", "", ""));
            Awaitility.await().until(() -> {
                time.advanceBy(Duration.ofSeconds(1));
                return answer.isDone();
            });
            assertThat(RunningThrottle.seen(answer.join())).isEqualTo(text(503, "Not Ok"));
        } finally {
            other.end(TEN_SECONDS);
        }
    }
}
