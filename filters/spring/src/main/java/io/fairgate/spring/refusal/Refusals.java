package io.fairgate.spring.refusal;

import io.fairgate.lease.LeasesUnavailableException;
import io.fairgate.permit.HoldExpiredException;
import io.fairgate.permit.PermitRefusedException;
import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.PoolUnavailableException;
import io.fairgate.permit.RefusalReason;
import io.fairgate.policy.Policy;
import io.fairgate.policy.QuotaTerms.HeaderStyle;
import io.fairgate.policy.TenantPolicy;
import io.fairgate.quota.QuotasUnavailableException;
import io.fairgate.shares.ShareSettings;
import io.netty.handler.timeout.ReadTimeoutException;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.web.server.ResponseStatusException;

/** The answer to each failure. A {@link RefusedException} brings its own; those to all others are here. */
final class Refusals {

    private Refusals() {}

    /**
     * The answer to a failure; null when another handler has to answer it.
     *
     * @param routed whether the request took a route; without one, an I/O error does not come from an upstream
     */
    static @Nullable Refusal of(Throwable failure, Policy policy, boolean routed) {
        if (failure instanceof RefusedException refused) {
            return refused.refusal(policy);
        } else if (failure instanceof PermitRefusedException permit) {
            return permit(permit, policy);
        } else if (failure instanceof PoolUnavailableException
                || failure instanceof QuotasUnavailableException
                || failure instanceof LeasesUnavailableException) {
            return Refusal.BACKEND_LOST;
        } else if (failure instanceof HoldExpiredException) {
            return Refusal.of(
                    HttpStatus.GATEWAY_TIMEOUT, "max-hold", "The request took longer than the longest allowed time.");
        } else {
            return routed ? upstream(failure) : null;
        }
    }

    private static Refusal permit(PermitRefusedException failure, Policy policy) {
        RefusalReason reason = failure.reason();
        if (reason == RefusalReason.DRAINING) {
            return Refusal.DRAINING;
        }
        PoolSettings pool = policy.pools().get(failure.pool());
        boolean own = reason.isTenantsOwn();
        return new Refusal(
                own ? HttpStatus.TOO_MANY_REQUESTS : HttpStatus.SERVICE_UNAVAILABLE,
                reason.label(),
                switch (reason) {
                    case TENANT_QUEUE_FULL -> "Too many requests of the tenant are waiting.";
                    case TENANT_CAP -> "The tenant has reached its limit of requests in flight.";
                    case TOO_LARGE -> "The request needs more capacity than the tenant may ever use.";
                    case POOL_QUEUE_FULL -> "The capacity is in use, and too many requests wait for it.";
                    case MAX_WAIT -> "The capacity is in use, and the request has waited for the longest allowed time.";
                    case DRAINING -> Refusal.DRAINING.detail();
                },
                List.of(failure.pool()),
                pool == null || reason == RefusalReason.TOO_LARGE ? null : RetryAfter.RANDOM.spread(pool.maxWait()),
                own ? headers -> addOwnLimits(headers, failure, policy) : Refusal.NO_FIELDS);
    }

    /**
     * Adds the fields for the tenant's own limit that refused; none when the tenant has no such limit: then reservations
     * of other tenants make the request too large, and they must not be disclosed.
     */
    private static void addOwnLimits(HttpHeaders headers, PermitRefusedException failure, Policy policy) {
        TenantPolicy tenant = policy.tenant(failure.tenant());
        if (tenant == null) {
            return;
        }
        ShareSettings share = tenant.share();
        int limit = failure.reason() == RefusalReason.TENANT_QUEUE_FULL ? share.maxWaiting() : share.maxInFlight();
        if (limit != ShareSettings.UNBOUNDED && policy.quotaTerms().headerStyle() == HeaderStyle.DRAFT) {
            String pool = "\"" + failure.pool() + "\"";
            headers.add(RateLimitFields.POLICY, pool + ";q=" + limit + ";qu=\"concurrent-requests\"");
            headers.add(RateLimitFields.LIMIT, pool + ";r=0");
        }
    }

    private static @Nullable Refusal upstream(Throwable failure) {
        if (failure instanceof ReadTimeoutException
                || failure instanceof TimeoutException
                || (failure instanceof ResponseStatusException status
                        && status.getStatusCode().isSameCodeAs(HttpStatus.GATEWAY_TIMEOUT))) {
            return Refusal.of(HttpStatus.GATEWAY_TIMEOUT, "upstream-timeout", "The upstream did not answer in time.");
        }
        return failure instanceof IOException ? Refusal.UPSTREAM_LOST : null;
    }
}
