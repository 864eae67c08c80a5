package io.fairgate.gateway.throttle.policy;

import io.fairgate.gateway.http.HttpCall;
import io.fairgate.gateway.http.HttpProblem;
import io.fairgate.gateway.lease.LeaseAuditLog.Subject;
import io.fairgate.gateway.lease.LeaseRegister;
import io.fairgate.gateway.throttle.PeerOwner;
import io.fairgate.gateway.throttle.Tenants;
import io.fairgate.gateway.throttle.ThrottleError;
import io.fairgate.gateway.throttle.ThrottleRequest;
import io.fairgate.lease.LeaseHolder;
import io.fairgate.spring.admission.TenantAccess;
import io.fairgate.spring.admission.TenantAccess.Caller;
import io.fairgate.spring.policy.PolicyHolder;
import io.fairgate.tenant.TenantId;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/**
 * Identifies throttle's clients as tenants by the rules of the gateway. The protocol has no tenants, so a client gives its
 * tenant as user information in the server's address, or is the default tenant. Locks are charged like other leases. A refusal
 * is a 503, because throttle's client fails for good on a 429.
 *
 * @param otherwise the tenant of a request without identification; null refuses such requests
 */
record ThrottleTenants(
        TenantAccess access,
        LeaseRegister register,
        PolicyHolder policy,
        @Nullable TenantId otherwise) implements Tenants {

    private static final String HOLDER = "throttle";
    private static final Subject NOTHING_KNOWN = new Subject("", null, Map.of());
    /** The attribute of an exchange that holds the identified caller. */
    private static final String CALLER = Caller.class.getName();

    @Override
    public Mono<PeerOwner> owner(ServerWebExchange exchange) {
        return Mono.defer(() -> register.isEnding() ? access.refuseDraining() : identify(exchange))
                .doOnNext(caller -> exchange.getAttributes().put(CALLER, caller))
                .doOnError(e -> register.audit().refused(new HttpCall(exchange, Map.of()), null, NOTHING_KNOWN, e))
                .flatMap(caller -> family(caller).map(family -> new PeerOwner(holder(caller), family)));
    }

    private Mono<Caller> identify(ServerWebExchange exchange) {
        UserInfo info = UserInfo.of(exchange.getRequest().getHeaders());
        if (info == null) {
            return access.identify(exchange, otherwise);
        }
        return access.identify(info.shownTo(policy.current().identification().sources(), exchange))
                .flatMap(caller -> caller.named().value().equals(info.tenant())
                        ? Mono.just(caller)
                        : Mono.error(new HttpProblem(
                                403, "contradiction", "The credentials of the request name different tenants.")));
    }

    /** No key of the lease API contains a line break, so this id differs from those of its leases. */
    private Mono<Long> family(Caller caller) {
        return register.leases()
                .memory()
                .map(memory ->
                        memory.ids().of(caller.named().value() + "\n\nthrottle").high());
    }

    private static LeaseHolder holder(Caller caller) {
        return new LeaseHolder(caller.tenant().id(), caller.named(), HOLDER);
    }

    @Override
    public Mono<Charge> charge(ThrottleRequest request) {
        ServerWebExchange exchange = request.call().exchange();
        Caller caller = exchange.getRequiredAttribute(CALLER);
        Subject subject = subject(request);
        return access.check(exchange, caller)
                .map(charge -> new Charge(charge.make().onErrorMap(e -> refused(caller, subject, e))))
                .onErrorMap(e -> refused(caller, subject, e));
    }

    private Throwable refused(Caller caller, Subject subject, Throwable failure) {
        if (!TenantAccess.isQuotaUsedUp(failure)) {
            return failure;
        }
        register.audit().refusedByQuota(caller, subject);
        return ThrottleError.QUOTA_USED_UP;
    }

    @Override
    public void refused(ThrottleRequest request, String reason) {
        Caller caller = request.call().exchange().getAttribute(CALLER);
        register.audit().refused(request.call(), caller, subject(request), reason);
    }

    private static Subject subject(ThrottleRequest request) {
        return new Subject(request.owner().holder().name(), request.lease(), request.locks());
    }

    @Override
    public void restored(PeerOwner owner) {
        register.audit().restored(owner.tenant(), "queue");
    }

    @Override
    public boolean areSentAway() {
        return register.isEnding();
    }
}
