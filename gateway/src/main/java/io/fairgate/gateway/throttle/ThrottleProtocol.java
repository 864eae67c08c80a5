package io.fairgate.gateway.throttle;

import io.fairgate.gateway.http.Bytes;
import io.fairgate.gateway.http.Call;
import io.fairgate.gateway.http.RouteTable;
import io.fairgate.gateway.http.SlowBodyException;
import io.fairgate.gateway.throttle.Peers.Lock;
import io.fairgate.gateway.throttle.Peers.Patience;
import io.fairgate.lease.Leases;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.core.io.buffer.DataBufferLimitException;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpStatus;
import org.springframework.http.InvalidMediaTypeException;
import org.springframework.http.MediaType;
import org.springframework.http.server.reactive.ServerHttpRequest;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/**
 * The routes of throttle 0.5.13, and those of 0.4 that its clients call, to be added to a route table: what each route reads
 * from a request, in which order, and what it answers. {@link Peers} has the operations behind them.
 *
 * <p>Thread-safe; no route blocks. When a waiting client disconnects, its lock stays in the queue, because the client may
 * come back.
 */
public final class ThrottleProtocol {

    /** The version of throttle with these routes and answers. */
    private static final String VERSION = "0.5.13";

    /** The limit of throttle. */
    private static final int MOST_BODY_BYTES = 2 * 1024 * 1024;

    private static final Duration PATIENCE_OF_HEALTH = Duration.ofSeconds(1);
    /** The attributes of an exchange that hold the peer and the locks of a call, once they have been read. */
    private static final String PEER = ThrottleProtocol.class.getName() + ".peer";

    private static final String LOCKS = ThrottleProtocol.class.getName() + ".locks";
    private static final Pattern UNSIGNED = Pattern.compile("\\+?[0-9]+");

    private final Semaphores semaphores;
    private final Tenants tenants;
    private final Leases leases;
    private final Peers peers;
    private final Restores restores;
    private final ThrottleMetrics metrics;
    private final Scheduler time;
    /** The icon that browsers show beside the address. */
    private final byte[] icon = Bytes.beside(ThrottleProtocol.class, "favicon.ico");

    /** A route for identified callers. */
    private interface Route {
        Mono<Answer> answer(Call call, PeerOwner owner);
    }

    /**
     * @param peers over the pools of the semaphores
     * @param time the clock and the timer of the leases
     */
    public ThrottleProtocol(
            PeerLeases peers, Semaphores semaphores, Tenants tenants, ThrottleSettings settings, Scheduler time) {
        this.leases = peers.all();
        this.semaphores = semaphores;
        this.tenants = tenants;
        this.time = time;
        this.peers = new Peers(peers, semaphores, settings, time);
        this.restores = new Restores(this.peers, tenants);
        this.metrics = new ThrottleMetrics(leases, semaphores, restores);
    }

    /** Adds the routes to a table. */
    public RouteTable.Builder addTo(RouteTable.Builder routes) {
        return routes.on(
                        HttpMethod.GET,
                        "/",
                        call -> Answer.text("Hello from Throttle!").to(call))
                .on(HttpMethod.GET, "/version", call -> Answer.text(VERSION).to(call))
                .on(HttpMethod.GET, "/favicon.ico", call -> call.answer(HttpStatus.OK, "image/x-icon", icon))
                .on(HttpMethod.GET, "/health", open(call -> health()))
                .on(HttpMethod.GET, "/metrics", open(call -> metrics.page().map(Answer::text)))
                .on(HttpMethod.POST, "/remove_expired", open(call -> Mono.just(Answer.json("0"))))
                .on(HttpMethod.GET, "/remainder", of((call, owner) -> remainder(call)))
                .on(HttpMethod.POST, "/new_peer", of(this::newPeer))
                .on(HttpMethod.POST, "/restore", of(this::restore))
                .on(HttpMethod.GET, "/peers/", of((call, owner) -> listPeers(owner)))
                .on(HttpMethod.PUT, "/peers/{id}", of(this::heartbeat))
                .on(HttpMethod.DELETE, "/peers/{id}", of(this::release))
                .on(HttpMethod.GET, "/peers/{id}/is_acquired", of(this::isAcquired))
                .on(HttpMethod.PUT, "/peers/{id}/{semaphore}", of(this::acquire))
                .on(HttpMethod.DELETE, "/peers/{id}/{semaphore}", of(this::releaseLock));
    }

    /** The answer of throttle for every other path. */
    public static Mono<Void> notFound(Call call) {
        return call.answer(
                HttpStatus.NOT_FOUND, "text/html; charset=utf-8", "Sorry, the requested page does not exist.");
    }

    private Call.Handler of(Route route) {
        return call -> answered(tenants.owner(call.exchange())
                        .flatMap(owner -> Mono.defer(() -> route.answer(call, owner))
                                .onErrorMap(ThrottleError.class, e -> tenants.areSentAway() ? e.unlessUnknownPeer() : e)
                                .doOnError(ThrottleError.class, e -> accountFor(call, owner, e))))
                .flatMap(answer -> answer.to(call));
    }

    private void accountFor(Call call, PeerOwner owner, ThrottleError refusal) {
        String reason = refusal.reason();
        if (reason != null) {
            PeerId peer = call.exchange().getAttribute(PEER);
            Map<String, Long> locks = call.exchange().getAttributeOrDefault(LOCKS, Map.of());
            tenants.refused(call, owner, new Tenants.Refused(peer == null ? null : peer.lease(), locks, reason));
        }
    }

    /** A route without identification; its answer reveals no peers. */
    private static Call.Handler open(Function<Call, Mono<Answer>> route) {
        return call -> answered(Mono.defer(() -> route.apply(call))).flatMap(answer -> answer.to(call));
    }

    private static Mono<Answer> answered(Mono<Answer> route) {
        return route.onErrorResume(ThrottleError.class, error -> Mono.just(error.answer()));
    }

    // ---- the routes ----

    private Mono<Answer> newPeer(Call call, PeerOwner owner) {
        return body(call, JsonBody::expiresIn)
                .flatMap(expiresIn -> peers.create(owner, expiresIn))
                .map(peer -> Answer.json(Long.toUnsignedString(peer)));
    }

    private Mono<Answer> listPeers(PeerOwner owner) {
        return peers.all(owner)
                .map(peer -> "{\"id\":" + Long.toUnsignedString(peer) + "}")
                .collect(Collectors.joining(",", "[", "]"))
                .map(Answer::json);
    }

    private Mono<Answer> heartbeat(Call call, PeerOwner owner) {
        PeerId peer = peer(call, owner);
        return body(call, JsonBody::expiresIn)
                .flatMap(expiresIn -> peers.heartbeat(peer, expiresIn))
                .thenReturn(Answer.text("Ok"));
    }

    private Mono<Answer> release(Call call, PeerOwner owner) {
        return peers.release(peer(call, owner))
                .map(released -> Answer.json(released ? "\"Peer released\"" : "\"Peer not found\""));
    }

    private Mono<Answer> isAcquired(Call call, PeerOwner owner) {
        return peers.isAcquired(peer(call, owner)).map(acquired -> Answer.json(acquired.toString()));
    }

    private Mono<Answer> acquire(Call call, PeerOwner owner) {
        PeerId peer = peer(call, owner);
        Query query = query(call);
        Duration blockFor = query.duration("block_for");
        Patience patience =
                new Patience(query.duration("expires_in"), Objects.requireNonNullElse(blockFor, Duration.ZERO));
        return body(call, JsonBody::count)
                .flatMap(count -> {
                    Lock lock = new Lock(call.part("semaphore"), count);
                    call.exchange().getAttributes().put(LOCKS, Map.of(lock.semaphore(), count));
                    return peers.acquire(
                            peer,
                            lock,
                            patience,
                            charge(call, peer, () -> Map.of(lock.semaphore(), (int) lock.count())));
                })
                .map(acquired -> Answer.json(
                        acquired ? HttpStatus.OK : HttpStatus.ACCEPTED, Long.toUnsignedString(peer.number())));
    }

    private Mono<Answer> releaseLock(Call call, PeerOwner owner) {
        return peers.releaseLock(peer(call, owner), call.part("semaphore")).thenReturn(Answer.text("Ok"));
    }

    private Mono<Answer> remainder(Call call) {
        Semaphore semaphore = peers.requireSemaphore(query(call).requireText("semaphore"));
        return semaphore.pool().inFlight().map(inFlight -> Answer.json(Long.toString(semaphore.max() - inFlight)));
    }

    private Mono<Answer> restore(Call call, PeerOwner owner) {
        return body(call, JsonBody::restored).flatMap(restored -> {
            PeerId peer = new PeerId(owner, restored.peer());
            call.exchange().getAttributes().put(PEER, peer);
            call.exchange().getAttributes().put(LOCKS, restored.acquired());
            Map<String, Integer> locks = restores.checked(restored.acquired());
            return restores.restore(peer, restored.expiresIn(), locks, charge(call, peer, () -> locks))
                    .map(isHeld -> Answer.text(isHeld ? HttpStatus.OK : HttpStatus.ACCEPTED, "Ok"));
        });
    }

    private Mono<Tenants.Charge> charge(Call call, PeerId peer, Supplier<Map<String, Integer>> locks) {
        return Mono.defer(() -> tenants.charge(call.exchange(), peer.owner(), peer.lease(), locks.get()));
    }

    /** Checks that the leases and every pool respond. */
    private Mono<Answer> health() {
        return leases.count()
                .thenMany(Flux.fromStream(() -> semaphores.all().stream()))
                .flatMap(semaphore -> semaphore.pool().inFlight())
                .then(Mono.just(Answer.text("Ok")))
                .timeout(PATIENCE_OF_HEALTH, time)
                .onErrorMap(e -> ThrottleError.unwell());
    }

    // ---- reading requests ----

    /** The number of the peer is the first variable of a path. */
    private static PeerId peer(Call call, PeerOwner owner) {
        String text = call.part("id");
        Long number = unsigned(text);
        if (number == null) {
            throw ThrottleError.unsuitablePath(
                    call.parts().size() == 1
                            ? "Cannot parse `%s` to a `u64`".formatted(text)
                            : "Cannot parse value at index 0 with value `%s` to a `u64`".formatted(text));
        }
        PeerId peer = new PeerId(owner, number);
        call.exchange().getAttributes().put(PEER, peer);
        return peer;
    }

    private static @Nullable Long unsigned(String text) {
        try {
            return UNSIGNED.matcher(text).matches() ? Long.parseUnsignedLong(text) : null;
        } catch (NumberFormatException tooLarge) {
            return null;
        }
    }

    private static Query query(Call call) {
        return new Query(call.exchange().getRequest().getURI().getRawQuery());
    }

    private static <T> Mono<T> body(Call call, Function<byte[], T> reader) {
        ServerHttpRequest request = call.exchange().getRequest();
        if (!isJson(request.getHeaders().getFirst(HttpHeaders.CONTENT_TYPE))) {
            return Mono.error(ThrottleError.notJson());
        }
        return call.body(MOST_BODY_BYTES)
                .onErrorMap(DataBufferLimitException.class, e -> ThrottleError.bodyTooLarge())
                .onErrorMap(SlowBodyException.class, e -> ThrottleError.bodyTooSlow())
                .map(reader);
    }

    private static boolean isJson(@Nullable String contentType) {
        try {
            MediaType type = contentType == null ? MediaType.ALL : MediaType.parseMediaType(contentType);
            return type.getType().equalsIgnoreCase("application")
                    && (type.getSubtype().equalsIgnoreCase("json") || "json".equalsIgnoreCase(type.getSubtypeSuffix()));
        } catch (InvalidMediaTypeException e) {
            return false;
        }
    }
}
