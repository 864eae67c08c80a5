package io.fairgate.gateway.lease;

import io.fairgate.gateway.http.Bytes;
import io.fairgate.gateway.http.Call;
import io.fairgate.gateway.http.RouteTable;
import io.fairgate.gateway.lease.LeaseRecords.Subject;
import io.fairgate.lease.LeaseId;
import io.fairgate.spring.admission.TenantAccess;
import io.fairgate.spring.admission.TenantAccess.Caller;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import tools.jackson.databind.json.JsonMapper;

/** The lease API over HTTP; {@code openapi.json} beside this class describes it. */
final class LeaseRoutes implements Consumer<RouteTable.Builder> {

    private static final JsonMapper JSON = JsonMapper.builder().build();
    private static final String IDEMPOTENCY_KEY = "Idempotency-Key";
    private static final int LONGEST_KEY = 128;
    /** The attribute of an exchange that holds the request for a lease, once it has been read. */
    private static final String ASK = LeaseAsk.class.getName();

    private final TenantAccess access;
    private final LeaseDesk desk;
    private final LeasePools pools;
    private final LeaseView view;
    private final LeaseRecords records;
    private final LeaseIds ids = new LeaseIds();
    private final byte[] description = Bytes.beside(LeaseRoutes.class, "openapi.json");

    LeaseRoutes(TenantAccess access, LeaseDesk desk, LeasePools pools, LeaseRecords records, LeaseView view) {
        this.access = access;
        this.desk = desk;
        this.pools = pools;
        this.records = records;
        this.view = view;
        LeaseBody.warmUp();
    }

    /** Whether a path belongs to this API; all others are throttle's, if that is served. */
    static boolean isOwn(String path) {
        return path.startsWith("/v1/");
    }

    @Override
    public void accept(RouteTable.Builder routes) {
        routes.on(HttpMethod.POST, "/v1/pools/{pool}/leases", identified(this::acquire))
                .on(HttpMethod.POST, "/v1/leases:acquireAll", identified(this::acquireAll))
                .on(HttpMethod.PUT, "/v1/leases/{id}", identified(this::extend))
                .on(HttpMethod.DELETE, "/v1/leases/{id}", identified(this::release))
                .on(HttpMethod.GET, "/v1/leases/{id}", identified(this::status))
                .on(HttpMethod.POST, "/v1/leases/{id}/restore", identified(this::restore))
                .on(HttpMethod.GET, "/v1/pools", identified(this::pools))
                .on(HttpMethod.GET, "/v1/pools/{pool}", identified(this::pool))
                .on(
                        HttpMethod.GET,
                        "/v1/openapi.json",
                        call -> call.answer(HttpStatus.OK, MediaType.APPLICATION_JSON_VALUE, description));
    }

    /** Refuses all calls during the shutdown: what they begin would be over before it is of use. */
    private Call.Handler identified(BiFunction<Call, Caller, Mono<Void>> handler) {
        return call -> desk.isEnding()
                ? access.<Void>refuseDraining().doOnError(e -> accountFor(call, null, e))
                : access.identify(call.exchange())
                        .flatMap(caller -> Mono.defer(() -> handler.apply(call, caller))
                                .doOnError(e -> accountFor(call, caller, e)));
    }

    private void accountFor(Call call, @Nullable Caller caller, Throwable refusal) {
        LeaseAsk ask = call.exchange().getAttribute(ASK);
        String id = call.parts().get("id");
        Subject subject = ask == null
                ? new Subject("", id == null ? null : LeaseId.parse(id), Map.of())
                : new Subject(ask.holder(), ask.id(), ask.permits());
        records.refused(call, caller, subject, refusal);
    }

    // ---- acquire ----

    private Mono<Void> acquire(Call call, Caller caller) {
        LeaseId id = id(call, caller);
        return LeaseBody.of(call, List.of("permits", "ttl", "maxWait", "holder"))
                .map(body -> asked(caller, id, Map.of(call.part("pool"), body.permits()), body))
                .flatMap(ask -> acquire(call, ask));
    }

    private Mono<Void> acquireAll(Call call, Caller caller) {
        LeaseId id = id(call, caller);
        return LeaseBody.of(call, List.of("pools", "ttl", "maxWait", "holder"))
                .map(body -> asked(caller, id, body.pools(), body))
                .flatMap(ask -> acquire(call, ask));
    }

    private static LeaseAsk asked(Caller caller, LeaseId id, Map<String, Integer> permits, LeaseBody body) {
        return new LeaseAsk(caller, id, permits, body.ttl(), body.maxWait(), body.holder());
    }

    private Mono<Void> acquire(Call call, LeaseAsk ask) {
        call.exchange().getAttributes().put(ASK, ask);
        return desk.acquire(ask, access.check(call.exchange(), ask.caller())).flatMap(standing -> {
            boolean isHeld = !standing.lease().held().isEmpty();
            if (isHeld) {
                standing.account().tellQuotas(call.exchange());
            }
            call.exchange().getResponse().getHeaders().set(HttpHeaders.LOCATION, "/v1/leases/" + ask.id());
            return answer(call, isHeld ? HttpStatus.CREATED : HttpStatus.ACCEPTED, view.lease(standing));
        });
    }

    private LeaseId id(Call call, Caller caller) {
        List<String> keys = call.exchange().getRequest().getHeaders().getOrEmpty(IDEMPOTENCY_KEY);
        boolean isFit = keys.size() == 1
                && !keys.get(0).isEmpty()
                && keys.get(0).length() <= LONGEST_KEY
                && keys.get(0).chars().allMatch(c -> c > ' ' && c < 0x7f);
        if (!isFit) {
            throw LeaseProblem.badRequest(
                    IDEMPOTENCY_KEY,
                    keys.isEmpty() ? "nothing" : keys.size() > 1 ? keys.size() + " of them" : "malformed",
                    "this header once, with 1 to 128 visible characters of ASCII");
        }
        return ids.of(caller.named(), keys.get(0));
    }

    // ---- existing leases ----

    private Mono<Void> extend(Call call, Caller caller) {
        return LeaseBody.of(call, List.of("ttl")).flatMap(body -> {
            LeaseAccount account = requireAccount(call, caller);
            return desk.extend(account, body.ttl()).flatMap(standing -> answer(call, standing));
        });
    }

    /** The answer does not reveal whether the lease existed. */
    private Mono<Void> release(Call call, Caller caller) {
        LeaseId id = LeaseId.parse(call.part("id"));
        LeaseAccount account = id == null ? null : desk.account(caller.named(), id);
        if (account != null) {
            return desk.release(account).then(Mono.defer(() -> call.answer(HttpStatus.NO_CONTENT)));
        } else if (id != null && desk.isOpen(id)) {
            accountFor(call, caller, LeaseProblem.expired()); // The lease of another tenant.
        } else if (id != null) {
            desk.releaseUnknown(caller, id);
        }
        return call.answer(HttpStatus.NO_CONTENT);
    }

    private Mono<Void> status(Call call, Caller caller) {
        return desk.status(requireAccount(call, caller)).flatMap(standing -> answer(call, standing));
    }

    private LeaseAccount requireAccount(Call call, Caller caller) {
        LeaseId id = LeaseId.parse(call.part("id"));
        LeaseAccount account = id == null ? null : desk.account(caller.named(), id);
        if (account == null) {
            throw LeaseProblem.expired();
        }
        return account;
    }

    private Mono<Void> restore(Call call, Caller caller) {
        LeaseId id = LeaseId.parse(call.part("id"));
        if (id == null) {
            throw LeaseProblem.badRequest("id", "malformed", "32 hexadecimal digits in lower case");
        }
        return LeaseBody.of(call, List.of("pools", "receipt", "ttl", "maxWait", "holder"))
                .flatMap(body -> {
                    Receipts.Proof proof = proof(body, id, caller);
                    LeaseAsk ask = asked(
                            caller,
                            id,
                            proof == null ? body.pools() : proof.before().permits(),
                            body);
                    call.exchange().getAttributes().put(ASK, ask);
                    return desk.restore(ask, proof, access.check(call.exchange(), caller));
                })
                .doOnError(
                        LeaseProblem.class,
                        e -> records.restored(caller.tenant().id(), "refused"))
                .flatMap(standing -> {
                    boolean isHeld = !standing.lease().held().isEmpty();
                    return answer(call, isHeld ? HttpStatus.OK : HttpStatus.ACCEPTED, view.restored(standing));
                });
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
            throw LeaseProblem.receiptInvalid("The receipt is of other pools or permits.");
        }
        return proof;
    }

    // ---- pools ----

    private Mono<Void> pools(Call call, Caller caller) {
        return Flux.fromIterable(pools.names())
                .concatMap(name -> poolView(name, caller))
                .collectList()
                .flatMap(all -> answer(call, HttpStatus.OK, Map.of("pools", all)));
    }

    private Mono<Void> pool(Call call, Caller caller) {
        return poolView(call.part("pool"), caller).flatMap(pool -> answer(call, HttpStatus.OK, pool));
    }

    private Mono<Map<String, Object>> poolView(String name, Caller caller) {
        return pools.standing(name, caller.tenant().id()).map(standing -> view.pool(name, standing));
    }

    // ---- answers ----

    private Mono<Void> answer(Call call, LeaseDesk.Standing standing) {
        return answer(call, HttpStatus.OK, view.lease(standing));
    }

    private static Mono<Void> answer(Call call, HttpStatus status, Map<String, Object> body) {
        ServerWebExchange exchange = call.exchange();
        exchange.getResponse().getHeaders().setCacheControl("no-store");
        return call.answer(status, MediaType.APPLICATION_JSON_VALUE, JSON.writeValueAsBytes(body));
    }
}
