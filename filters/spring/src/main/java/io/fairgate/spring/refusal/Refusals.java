package io.fairgate.spring.refusal;

import io.fairgate.fairness.ShareSettings;
import io.fairgate.permit.HoldExpiredException;
import io.fairgate.permit.PermitRefusedException;
import io.fairgate.permit.PoolUnavailableException;
import io.fairgate.permit.RefusalReason;
import io.fairgate.policy.QuotaTerms;
import io.fairgate.policy.TenantPolicy;
import io.fairgate.quota.QuotasUnavailableException;
import io.fairgate.spring.policy.PolicyHolder;
import io.netty.handler.timeout.ReadTimeoutException;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.web.server.ResponseStatusException;

/**
 * Finds the answer to a failure. A {@link RefusedException} brings its own; the answers to all other failures are here.
 */
final class Refusals {

    private final PolicyHolder policy;

    private final RetryAfter retryAfter;

    Refusals(PolicyHolder policy, RetryAfter retryAfter) {
        this.policy = policy;
        this.retryAfter = retryAfter;
    }

    /**
     * The answer to a failure; null when another handler has to answer it.
     *
     * @param routed whether the request took a route; without one, an I/O error does not come from an upstream
     */
    @Nullable
    Refusal of(Throwable failure, boolean routed) {
        if (failure instanceof RefusedException refused) {
            return refused.refusal(new RefusalTerms(policy.current(), retryAfter));
        } else if (failure instanceof PermitRefusedException permit) {
            return permit(permit);
        } else if (failure instanceof PoolUnavailableException || failure instanceof QuotasUnavailableException) {
            return Refusal.BACKEND_LOST;
        } else if (failure instanceof HoldExpiredException) {
            return Refusal.of(HttpStatus.GATEWAY_TIMEOUT, "max-hold", "The request took longer than it may.");
        } else {
            return routed ? upstream(failure) : null;
        }
    }

    private Refusal permit(PermitRefusedException failure) {
        if (failure.reason() == RefusalReason.DRAINING) {
            return Refusal.DRAINING;
        }
        Duration wait = switch (failure.reason()) {
            case TOO_LARGE -> null;
            default -> maxWait(failure.pool());
        };
        boolean own = failure.reason().isTenantsOwn();
        return new Refusal(
                own ? HttpStatus.TOO_MANY_REQUESTS : HttpStatus.SERVICE_UNAVAILABLE,
                failure.reason().label(),
                switch (failure.reason()) {
                    case TENANT_QUEUE_FULL -> "Too many requests of the tenant are waiting.";
                    case TENANT_CAP -> "The tenant has as many requests in flight as it may have.";
                    case TOO_LARGE -> "The request needs more of the capacity than the tenant may ever use.";
                    case POOL_QUEUE_FULL -> "The capacity is in use, and too many requests wait for it.";
                    case MAX_WAIT -> "The capacity is in use; the request waited as long as it may.";
                    case DRAINING -> throw new IllegalStateException("told above");
                },
                List.of(failure.pool()),
                wait == null ? null : retryAfter.spread(wait),
                own ? ownLimits(failure) : new HttpHeaders());
    }

    /**
     * The fields for the tenant's own limit that refused, as a policy in the draft's unit for permits. Empty when the
     * tenant has no such limit: then the reservations of other tenants make the request too large, and they must not be
     * disclosed.
     */
    private HttpHeaders ownLimits(PermitRefusedException failure) {
        HttpHeaders headers = new HttpHeaders();
        TenantPolicy tenant = policy.current().tenant(failure.tenant());
        if (tenant == null) {
            return headers;
        }
        ShareSettings share = tenant.share();
        int limit = failure.reason() == RefusalReason.TENANT_QUEUE_FULL ? share.maxWaiting() : share.maxInFlight();
        if (limit != ShareSettings.UNBOUNDED && told() == QuotaTerms.Told.DRAFT) {
            String pool = "\"" + failure.pool() + "\"";
            headers.add(RateLimitFields.POLICY, pool + ";q=" + limit + ";qu=\"concurrent-requests\"");
            headers.add(RateLimitFields.LIMIT, pool + ";r=0");
        }
        return headers;
    }

    private QuotaTerms.Told told() {
        return policy.current().quotaTerms().told();
    }

    private @Nullable Duration maxWait(String pool) {
        var settings = policy.current().pools().get(pool);
        return settings == null ? null : settings.maxWait();
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
