package io.fairgate.gateway.throttle;

import io.fairgate.gateway.http.Bytes;
import io.fairgate.gateway.http.HttpCall;
import io.fairgate.gateway.http.RouteTable.Route;
import io.fairgate.gateway.throttle.Locks.Lock;
import io.fairgate.gateway.throttle.Locks.Patience;
import io.fairgate.lease.Leases;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpStatus;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/**
 * The routes of throttle 0.5.13, and those of 0.4 that its clients call: what each route reads from a request, in which order,
 * and what it answers. {@link Peers}, {@link Locks} and {@link Restores} have the operations behind them.
 *
 * <p>Thread-safe; no route blocks. When a waiting client disconnects, its lock stays in the queue: it may come back.
 */
public final class ThrottleProtocol {

    /** The version of throttle with these routes and answers. */
    private static final String VERSION = "0.5.13";

    private static final Duration PATIENCE_OF_HEALTH = Duration.ofSeconds(1);

    private final Semaphores semaphores;
    private final Tenants tenants;
    private final Leases leases;
    private final Peers peers;
    private final Locks locks;
    private final Restores restores;
    private final ThrottleMetrics metrics;
    private final Scheduler time;
    /** The icon that browsers show beside the address. */
    private final byte[] icon = Bytes.beside(ThrottleProtocol.class, "favicon.ico");

    /**
     * @param leases over the pools of the semaphores; others than those of peers are ignored
     * @param time the clock and the timer of the leases
     */
    public ThrottleProtocol(
            Leases leases, Semaphores semaphores, Tenants tenants, ThrottleSettings settings, Scheduler time) {
        RestoringPeers restoring = new RestoringPeers(leases);
        this.leases = leases;
        this.semaphores = semaphores;
        this.tenants = tenants;
        this.time = time;
        this.peers = new Peers(leases, semaphores, settings);
        this.locks = new Locks(peers, restoring, time);
        this.restores = new Restores(peers, restoring, tenants);
        this.metrics = new ThrottleMetrics(leases, semaphores, restores);
    }

    public List<Route> routes() {
        return List.of(
                new Route(HttpMethod.GET, "/", open(() -> text("Hello from Throttle!"))),
                new Route(HttpMethod.GET, "/version", open(() -> text(VERSION))),
                new Route(HttpMethod.GET, "/favicon.ico", call -> call.answer(HttpStatus.OK, "image/x-icon", icon)),
                new Route(HttpMethod.GET, "/health", open(this::health)),
                new Route(HttpMethod.GET, "/metrics", open(() -> metrics.page().flatMap(ThrottleProtocol::text))),
                new Route(HttpMethod.POST, "/remove_expired", open(() -> json("0"))),
                new Route(HttpMethod.GET, "/remainder", of(this::remainder)),
                new Route(HttpMethod.POST, "/new_peer", of(this::newPeer)),
                new Route(HttpMethod.POST, "/restore", of(this::restore)),
                new Route(HttpMethod.GET, "/peers/", of(this::listPeers)),
                new Route(HttpMethod.PUT, "/peers/{id}", of(this::heartbeat)),
                new Route(HttpMethod.DELETE, "/peers/{id}", of(this::release)),
                new Route(HttpMethod.GET, "/peers/{id}/is_acquired", of(this::isAcquired)),
                new Route(HttpMethod.PUT, "/peers/{id}/{semaphore}", of(this::acquire)),
                new Route(HttpMethod.DELETE, "/peers/{id}/{semaphore}", of(this::releaseLock)));
    }

    /** The answer of throttle for every other path. */
    public static Mono<Void> notFound(HttpCall call) {
        return call.answer(
                HttpStatus.NOT_FOUND, "text/html; charset=utf-8", "Sorry, the requested page does not exist.");
    }

    private HttpCall.Handler of(Function<ThrottleRequest, Mono<ThrottleAnswer>> handler) {
        return call -> answered(call, tenants.owner(call.exchange()).flatMap(owner -> {
            ThrottleRequest request = new ThrottleRequest(call, owner);
            return Mono.defer(() -> handler.apply(request))
                    .onErrorMap(ThrottleError.class, this::whileShuttingDown)
                    .doOnError(ThrottleError.class, e -> record(request, e));
        }));
    }

    /** The shutdown may have ended the peer. */
    private ThrottleError whileShuttingDown(ThrottleError error) {
        return error == ThrottleError.UNKNOWN_PEER && tenants.areSentAway() ? ThrottleError.SHUTTING_DOWN : error;
    }

    private void record(ThrottleRequest request, ThrottleError refusal) {
        String reason = refusal.reason();
        if (reason != null) {
            tenants.refused(request, reason);
        }
    }

    /** Without identification; the answer reveals no peers. */
    private static HttpCall.Handler open(Supplier<Mono<ThrottleAnswer>> answer) {
        return call -> answered(call, Mono.defer(answer));
    }

    private static Mono<Void> answered(HttpCall call, Mono<ThrottleAnswer> answer) {
        return answer.onErrorResume(ThrottleError.class, error -> Mono.just(error.answer()))
                .flatMap(each -> each.to(call));
    }

    private static Mono<ThrottleAnswer> text(String body) {
        return Mono.just(ThrottleAnswer.text(HttpStatus.OK, body));
    }

    private static Mono<ThrottleAnswer> json(Object body) {
        return Mono.just(ThrottleAnswer.json(HttpStatus.OK, body.toString()));
    }

    private Mono<ThrottleAnswer> newPeer(ThrottleRequest request) {
        return request.body(JsonBody::expiresIn)
                .flatMap(expiresIn -> peers.create(request.owner(), expiresIn))
                .flatMap(peer -> json(Long.toUnsignedString(peer)));
    }

    private Mono<ThrottleAnswer> listPeers(ThrottleRequest request) {
        return peers.all(request.owner())
                .map(peer -> "{\"id\":" + Long.toUnsignedString(peer) + "}")
                .collect(Collectors.joining(",", "[", "]"))
                .flatMap(ThrottleProtocol::json);
    }

    private Mono<ThrottleAnswer> heartbeat(ThrottleRequest request) {
        PeerId peer = request.peer();
        return request.body(JsonBody::expiresIn)
                .flatMap(expiresIn -> peers.heartbeat(peer, expiresIn))
                .thenReturn(ThrottleAnswer.OK);
    }

    private Mono<ThrottleAnswer> release(ThrottleRequest request) {
        return peers.release(request.peer())
                .flatMap(released -> json(released ? "\"Peer released\"" : "\"Peer not found\""));
    }

    private Mono<ThrottleAnswer> isAcquired(ThrottleRequest request) {
        return peers.isAcquired(request.peer()).flatMap(ThrottleProtocol::json);
    }

    private Mono<ThrottleAnswer> acquire(ThrottleRequest request) {
        PeerId peer = request.peer();
        Duration blockFor = request.duration("block_for");
        Patience patience =
                new Patience(request.duration("expires_in"), Objects.requireNonNullElse(blockFor, Duration.ZERO));
        return request.body(JsonBody::count)
                .flatMap(count -> {
                    Lock lock = new Lock(request.call().part("semaphore"), count);
                    request.asksFor(Map.of(lock.semaphore(), count));
                    return locks.acquire(peer, lock, patience, charge(request));
                })
                .map(acquired -> ThrottleAnswer.json(
                        acquired ? HttpStatus.OK : HttpStatus.ACCEPTED, Long.toUnsignedString(peer.number())));
    }

    private Mono<ThrottleAnswer> releaseLock(ThrottleRequest request) {
        return peers.releaseLock(request.peer(), request.call().part("semaphore"))
                .thenReturn(ThrottleAnswer.OK);
    }

    private Mono<ThrottleAnswer> remainder(ThrottleRequest request) {
        String name = request.text("semaphore");
        if (name == null) {
            throw ThrottleError.unsuitableQuery("missing field `semaphore`");
        }
        Semaphore semaphore = peers.requireSemaphore(name);
        return semaphore.pool().inFlight().flatMap(inFlight -> json(semaphore.max() - inFlight));
    }

    private Mono<ThrottleAnswer> restore(ThrottleRequest request) {
        return request.body(JsonBody::restored).flatMap(restored -> {
            PeerId peer = request.peer(restored.peer());
            request.asksFor(restored.acquired());
            return restores.restore(peer, restored, charge(request))
                    .map(isHeld -> isHeld ? ThrottleAnswer.OK : ThrottleAnswer.text(HttpStatus.ACCEPTED, "Ok"));
        });
    }

    private Mono<Tenants.Charge> charge(ThrottleRequest request) {
        return Mono.defer(() -> tenants.charge(request));
    }

    /** Checks that the leases and every pool respond. */
    private Mono<ThrottleAnswer> health() {
        return leases.count()
                .thenMany(Flux.fromStream(() -> semaphores.all().stream()))
                .flatMap(semaphore -> semaphore.pool().inFlight())
                .then(Mono.just(ThrottleAnswer.OK))
                .timeout(PATIENCE_OF_HEALTH, time)
                .onErrorMap(e -> ThrottleError.UNWELL);
    }
}
