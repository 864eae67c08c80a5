package io.fairgate.gateway.throttle;

import static io.fairgate.gateway.throttle.RunningThrottle.OK;
import static io.fairgate.gateway.throttle.RunningThrottle.UNKNOWN_PEER;
import static io.fairgate.gateway.throttle.RunningThrottle.acquired;
import static io.fairgate.gateway.throttle.RunningThrottle.domain;
import static io.fairgate.gateway.throttle.RunningThrottle.json;
import static io.fairgate.gateway.throttle.RunningThrottle.pending;
import static io.fairgate.gateway.throttle.RunningThrottle.text;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.fairness.PoolStatus;
import io.fairgate.fairness.ShareSettings;
import io.fairgate.fairness.TenantShares;
import io.fairgate.gateway.http.HttpFace;
import io.fairgate.gateway.http.RouteTable;
import io.fairgate.gateway.throttle.RunningThrottle.Seen;
import io.fairgate.lease.FencingTokens;
import io.fairgate.lease.LeaseListener;
import io.fairgate.lease.Leases;
import io.fairgate.permit.EmbeddedPermitPool;
import io.fairgate.permit.PoolListener;
import io.fairgate.permit.PoolSettings;
import io.fairgate.tenant.TenantId;
import io.fairgate.testkit.NothingLeft;
import io.fairgate.testkit.TestTime;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.http.HttpRequest;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.http.HttpStatus;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.handler.ResponseStatusExceptionHandler;
import reactor.core.publisher.Mono;

/** The protocol beside other things: several tenants, and pools that others use and close. */
class ThrottleTenantsTest {

    private static final Duration TEN_SECONDS = Duration.ofSeconds(10);

    @RegisterExtension
    final NothingLeft nothingLeft = new NothingLeft();

    private final TestTime time = nothingLeft.watch(new TestTime());
    private final EmbeddedPermitPool pool = nothingLeft.watch(new EmbeddedPermitPool(
            "A",
            PoolSettings.ofPermits(4).withMaxWaiting(2),
            new TenantShares(
                    Map.of(TenantId.of("capped"), ShareSettings.EQUAL.withMaxInFlight(2)), ShareSettings.EQUAL),
            time,
            PoolListener.NONE));
    private final Semaphore semaphore = new Semaphore(pool, 4, 0);
    private final Leases leases =
            new Leases(Map.of("A", pool)::get, time, new FencingTokens(() -> Instant.EPOCH), LeaseListener.NONE);
    private final HttpFace face = HttpFace.listen(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
            new ThrottleProtocol(
                            leases,
                            new Semaphores() {
                                @Override
                                public @Nullable Semaphore find(String name) {
                                    return name.equals("A") ? semaphore : null;
                                }

                                @Override
                                public Collection<Semaphore> all() {
                                    return List.of(semaphore);
                                }
                            },
                            ThrottleTenantsTest::tenant,
                            ThrottleSettings.STANDARD,
                            time)
                    .addTo(new RouteTable.Builder())
                    .otherwise(ThrottleProtocol::notFound),
            List.of(new ResponseStatusExceptionHandler()));

    private static Mono<TenantId> tenant(ServerWebExchange exchange) {
        String name = exchange.getRequest().getHeaders().getFirst("X-Tenant-Id");
        return name == null
                ? Mono.error(new ResponseStatusException(HttpStatus.UNAUTHORIZED))
                : Mono.just(TenantId.of(name));
    }

    @AfterEach
    void end() {
        leases.ids().forEach(leases::release);
        face.end(TEN_SECONDS);
    }

    private Seen ask(String tenant, String method, String path, String body) {
        HttpRequest request = RunningThrottle.request(face.port(), method, path, "application/json", body);
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
        assertThat(ask(
                                "globex",
                                "POST",
                                "/restore",
                                "{\"expires_in\":\"1m\",\"peer_id\":%s,\"acquired\":{\"A\":2}}".formatted(peer))
                        .status())
                .isEqualTo(409);
        assertThat(ask("acme", "GET", "/peers/", "")).isEqualTo(json(200, "[{\"id\":" + peer + "}]"));
        assertThat(status().tenants())
                .filteredOn(tenant -> tenant.inFlight() > 0)
                .extracting(PoolStatus.TenantStatus::tenant)
                .containsExactly(TenantId.of("acme"));
    }

    @Test
    void who_is_not_told_to_be_a_tenant_does_nothing_but_what_is_open_to_everybody() {
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
    void what_a_pool_refuses_is_503_and_never_429() {
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

    @Test
    void a_pool_that_is_being_closed_ends_every_wait_with_503() {
        String holder = peer("acme");
        lock("acme", holder, 4);
        String waiting = peer("acme");
        var blocked = RunningThrottle.send(HttpRequest.newBuilder(
                        RunningThrottle.request(
                                face.port(), "PUT", "/peers/" + waiting + "/A?block_for=10s", "application/json", "1"),
                        (name, value) -> true)
                .header("X-Tenant-Id", "acme")
                .build());
        Awaitility.await().until(() -> status().waiting() == 1);
        pool.close(Duration.ZERO).subscribe();
        assertThat(RunningThrottle.seen(blocked.join())).isEqualTo(domain(503, "Shutting down."));
        assertThat(lock("acme", waiting, 1)).isEqualTo(domain(503, "Shutting down."));
        assertThat(ask("acme", "GET", "/peers/" + waiting + "/is_acquired", "")).isEqualTo(json(200, "true"));
        assertThat(ask("acme", "PUT", "/peers/" + waiting, "{\"expires_in\":\"5m\"}"))
                .isEqualTo(OK);
    }

    @Test
    void health_asks_for_a_sign_of_life() {
        assertThat(ask("", "GET", "/health", "")).isEqualTo(OK);
        Semaphore dead = new Semaphore(new DeadPool(), 1, 0);
        HttpFace other = HttpFace.listen(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                new ThrottleProtocol(
                                leases,
                                new Semaphores() {
                                    @Override
                                    public @Nullable Semaphore find(String name) {
                                        return dead;
                                    }

                                    @Override
                                    public Collection<Semaphore> all() {
                                        return List.of(semaphore, dead);
                                    }
                                },
                                ThrottleTenantsTest::tenant,
                                ThrottleSettings.STANDARD,
                                time)
                        .addTo(new RouteTable.Builder())
                        .otherwise(ThrottleProtocol::notFound),
                List.of());
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
