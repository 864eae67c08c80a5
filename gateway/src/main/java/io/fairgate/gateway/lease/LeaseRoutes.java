package io.fairgate.gateway.lease;

import io.fairgate.gateway.http.Bytes;
import io.fairgate.gateway.http.HttpCall;
import io.fairgate.gateway.http.HttpProblem;
import io.fairgate.gateway.http.RouteTable.Route;
import io.fairgate.gateway.lease.LeaseAuditLog.Subject;
import io.fairgate.gateway.lease.receipt.Receipts;
import io.fairgate.lease.LeaseId;
import io.fairgate.lease.LeaseStatus;
import io.fairgate.spring.admission.TenantAccess;
import io.fairgate.spring.admission.TenantAccess.Caller;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import tools.jackson.databind.json.JsonMapper;

/** The lease API over HTTP; {@code openapi.json} beside this class describes it. */
final class LeaseRoutes implements Supplier<List<Route>> {

    private static final JsonMapper JSON = JsonMapper.builder().build();
    private static final String IDEMPOTENCY_KEY = "Idempotency-Key";
    private static final int LONGEST_KEY = 128;
    /** The attribute of an exchange that holds the request for a lease, once it has been read. */
    private static final String REQUEST = AcquireLease.class.getName();

    private final TenantAccess access;
    private final LeasePools pools;
    private final LeaseRegister register;
    private final LeaseService service;
    private final LeaseRestores restores;
    private final LeaseView view;
    private final byte[] description = Bytes.beside(LeaseRoutes.class, "openapi.json");

    LeaseRoutes(TenantAccess access, LeasePools pools, LeaseRegister register, LeaseView view) {
        this.access = access;
        this.pools = pools;
        this.register = register;
        this.service = new LeaseService(access, pools, register);
        this.restores = new LeaseRestores(service, register);
        this.view = view;
        LeaseBody.warmUp();
    }

    /** Whether a path belongs to this API; all others are throttle's, if that is served. */
    static boolean isOwn(String path) {
        return path.startsWith("/v1/");
    }

    @Override
    public List<Route> get() {
        return List.of(
                new Route(HttpMethod.POST, "/v1/pools/{pool}/leases", identified(this::acquire)),
                new Route(HttpMethod.POST, "/v1/leases:acquireAll", identified(this::acquireAll)),
                new Route(HttpMethod.PUT, "/v1/leases/{id}", identified(this::extend)),
                new Route(HttpMethod.DELETE, "/v1/leases/{id}", identified(this::release)),
                new Route(HttpMethod.GET, "/v1/leases/{id}", identified(this::status)),
                new Route(HttpMethod.POST, "/v1/leases/{id}/restore", identified(this::restore)),
                new Route(HttpMethod.GET, "/v1/pools", identified(this::pools)),
                new Route(HttpMethod.GET, "/v1/pools/{pool}", identified(this::pool)),
                new Route(
                        HttpMethod.GET,
                        "/v1/openapi.json",
                        call -> call.answer(HttpStatus.OK, MediaType.APPLICATION_JSON_VALUE, description)));
    }

    /** Refuses all calls during the shutdown: what they begin would be over before it is of use. */
    private HttpCall.Handler identified(BiFunction<HttpCall, Caller, Mono<Void>> handler) {
        return call -> register.isEnding()
                ? access.<Void>refuseDraining().doOnError(e -> record(call, null, e))
                : access.identify(call.exchange())
                        .flatMap(caller ->
                                Mono.defer(() -> handler.apply(call, caller)).doOnError(e -> record(call, caller, e)));
    }

    private void record(HttpCall call, @Nullable Caller caller, Throwable refusal) {
        AcquireLease request = call.exchange().getAttribute(REQUEST);
        String id = call.parts().get("id");
        Subject subject =
                request == null ? new Subject("", id == null ? null : LeaseId.parse(id), Map.of()) : request.subject();
        register.audit().refused(call, caller, subject, refusal);
    }

    // ---- acquire ----

    private Mono<Void> acquire(HttpCall call, Caller caller) {
        return idOfKey(call, caller)
                .flatMap(id -> LeaseBody.of(call, List.of("permits", "ttl", "maxWait", "holder"))
                        .flatMap(body -> acquire(
                                call, request(call, caller, id, Map.of(call.part("pool"), body.permits()), body))));
    }

    private Mono<Void> acquireAll(HttpCall call, Caller caller) {
        return idOfKey(call, caller)
                .flatMap(id -> LeaseBody.of(call, List.of("pools", "ttl", "maxWait", "holder"))
                        .flatMap(body -> acquire(call, request(call, caller, id, body.pools(), body))));
    }

    private static AcquireLease request(
            HttpCall call, Caller caller, LeaseId id, Map<String, Integer> permits, LeaseBody body) {
        AcquireLease request = new AcquireLease(caller, id, permits, body.ttl(), body.maxWait(), body.holder());
        call.exchange().getAttributes().put(REQUEST, request);
        return request;
    }

    private Mono<Void> acquire(HttpCall call, AcquireLease request) {
        LeaseCharge charge = charge(call, request);
        return service.acquire(request, charge).flatMap(lease -> {
            charge.addBalances(call.exchange());
            call.exchange().getResponse().getHeaders().set(HttpHeaders.LOCATION, "/v1/leases/" + request.id());
            return shown(call, lease.held().isEmpty() ? HttpStatus.ACCEPTED : HttpStatus.CREATED, lease, Map.of());
        });
    }

    private LeaseCharge charge(HttpCall call, AcquireLease request) {
        return new LeaseCharge(
                access.check(call.exchange(), request.caller()),
                () -> register.audit().refusedByQuota(request.caller(), request.subject()));
    }

    /** The same id for the same key of a tenant. The id of the tenant contains no line break. */
    private Mono<LeaseId> idOfKey(HttpCall call, Caller caller) {
        List<String> keys = call.exchange().getRequest().getHeaders().getOrEmpty(IDEMPOTENCY_KEY);
        boolean isFit = keys.size() == 1
                && !keys.get(0).isEmpty()
                && keys.get(0).length() <= LONGEST_KEY
                && keys.get(0).chars().allMatch(c -> c > ' ' && c < 0x7f);
        if (!isFit) {
            throw HttpProblem.badRequest(
                    IDEMPOTENCY_KEY,
                    keys.isEmpty() ? "nothing" : keys.size() > 1 ? keys.size() + " headers" : "malformed",
                    "one header with 1 to 128 visible ASCII characters");
        }
        return register.leases()
                .memory()
                .map(memory -> memory.ids().of(caller.named().value() + "\n" + keys.get(0)));
    }

    // ---- existing leases ----

    private Mono<Void> extend(HttpCall call, Caller caller) {
        return LeaseBody.of(call, List.of("ttl"))
                .flatMap(body -> service.extend(caller.named(), requireId(call), body.ttl()))
                .flatMap(lease -> shown(call, HttpStatus.OK, lease, Map.of()));
    }

    /** The answer does not reveal whether the lease existed. */
    private Mono<Void> release(HttpCall call, Caller caller) {
        LeaseId id = LeaseId.parse(call.part("id"));
        Mono<Void> released = id == null ? Mono.empty() : released(call, caller, id);
        return released.then(Mono.defer(() -> call.answer(HttpStatus.NO_CONTENT)));
    }

    private Mono<Void> released(HttpCall call, Caller caller, LeaseId id) {
        return register.leases()
                .status(id)
                .map(Optional::of)
                .defaultIfEmpty(Optional.empty())
                .flatMap(found -> {
                    if (found.isEmpty()) {
                        return restores.releaseUnknown(caller, id);
                    }
                    if (found.get().holder().owner().equals(caller.named())) {
                        return register.leases().release(id).then();
                    }
                    record(call, caller, LeaseProblems.EXPIRED); // The lease of another tenant.
                    return Mono.empty();
                });
    }

    private Mono<Void> status(HttpCall call, Caller caller) {
        return service.status(caller.named(), requireId(call))
                .flatMap(lease -> shown(call, HttpStatus.OK, lease, Map.of()));
    }

    private static LeaseId requireId(HttpCall call) {
        LeaseId id = LeaseId.parse(call.part("id"));
        if (id == null) {
            throw LeaseProblems.EXPIRED;
        }
        return id;
    }

    private Mono<Void> restore(HttpCall call, Caller caller) {
        LeaseId id = LeaseId.parse(call.part("id"));
        if (id == null) {
            throw HttpProblem.badRequest("id", "malformed", "32 hexadecimal digits in lower case");
        }
        return LeaseBody.of(call, List.of("pools", "receipt", "ttl", "maxWait", "holder"))
                .flatMap(body -> restored(call, caller, id, body))
                .doOnError(
                        HttpProblem.class,
                        e -> register.audit().restored(caller.tenant().id(), "refused"))
                .flatMap(lease -> shown(
                        call,
                        lease.held().isEmpty() ? HttpStatus.ACCEPTED : HttpStatus.OK,
                        lease,
                        Map.of("restored", register.wasRestored(id) ? "receipt" : "queue")));
    }

    private Mono<LeaseStatus> restored(HttpCall call, Caller caller, LeaseId id, LeaseBody body) {
        Receipts.Proof proof = proof(body, id, caller);
        Map<String, Integer> permits =
                proof == null ? body.pools() : proof.before().permits();
        AcquireLease request = request(call, caller, id, permits, body);
        return restores.restore(request, proof, charge(call, request));
    }

    /** What a receipt proves; null without a receipt, or when this server has no keys and cannot verify any. */
    private Receipts.@Nullable Proof proof(LeaseBody body, LeaseId id, Caller caller) {
        String receipt = body.receipt();
        Receipts receipts = view.receipts();
        if (receipt == null || receipts == null) {
            return null;
        }
        Receipts.Proof proof = receipts.verified(receipt, id, caller.named());
        if (body.namesPools() && !body.pools().equals(proof.before().permits())) {
            throw Receipts.invalid("The receipt proves other pools or permits.");
        }
        return proof;
    }

    private Mono<Void> pools(HttpCall call, Caller caller) {
        return Flux.fromIterable(pools.names())
                .concatMap(name -> poolView(name, caller))
                .collectList()
                .flatMap(all -> answer(call, HttpStatus.OK, Map.of("pools", all)));
    }

    private Mono<Void> pool(HttpCall call, Caller caller) {
        return poolView(call.part("pool"), caller).flatMap(pool -> answer(call, HttpStatus.OK, pool));
    }

    private Mono<Map<String, Object>> poolView(String name, Caller caller) {
        return pools.standing(name, caller.tenant().id()).map(standing -> view.pool(name, standing));
    }

    private Mono<Void> shown(HttpCall call, HttpStatus status, LeaseStatus lease, Map<String, String> more) {
        return register.leases().memory().flatMap(memory -> {
            Map<String, Object> body = view.lease(lease, memory);
            body.putAll(more);
            return answer(call, status, body);
        });
    }

    private static Mono<Void> answer(HttpCall call, HttpStatus status, Map<String, Object> body) {
        call.exchange().getResponse().getHeaders().setCacheControl("no-store");
        return call.answer(status, MediaType.APPLICATION_JSON_VALUE, JSON.writeValueAsBytes(body));
    }
}
