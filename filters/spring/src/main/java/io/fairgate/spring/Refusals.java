package io.fairgate.spring;

import io.fairgate.fairness.ShareSettings;
import io.fairgate.permit.HoldExpiredException;
import io.fairgate.permit.PermitRefusedException;
import io.fairgate.permit.RefusalReason;
import io.fairgate.policy.IdentitySource;
import io.fairgate.policy.QuotaTerms;
import io.fairgate.policy.TenantPolicy;
import io.fairgate.quota.QuotaDecision.Balance;
import io.netty.handler.timeout.ReadTimeoutException;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.web.server.ResponseStatusException;

/** The one place that says which failure becomes which answer. */
final class Refusals {

    private final LivePolicy policy;

    private final RetryAfter retryAfter;

    Refusals(LivePolicy policy, RetryAfter retryAfter) {
        this.policy = policy;
        this.retryAfter = retryAfter;
    }

    /**
     * The answer to a failure; null when it is none of ours.
     *
     * @param routed whether the request was on its way through a route; elsewhere an I/O error is not the upstream's
     */
    @Nullable
    Refusal of(Throwable failure, boolean routed) {
        if (failure instanceof IdentityRefusedException identity) {
            return identity(identity);
        } else if (failure instanceof QuotaRefusedException quota) {
            return quota(quota);
        } else if (failure instanceof DrainingException) {
            return draining();
        } else if (failure instanceof AmbiguousPathException) {
            return Refusal.of(
                    HttpStatus.BAD_REQUEST,
                    "ambiguous-path",
                    "The path has an empty segment, a segment of dots, or an encoded slash, which servers read in different ways.");
        } else if (failure instanceof ConnectRefusedException) {
            return connect();
        } else if (failure instanceof PermitRefusedException permit) {
            return permit(permit);
        } else if (failure instanceof HoldExpiredException) {
            return Refusal.of(HttpStatus.GATEWAY_TIMEOUT, "max-hold", "The request took longer than it may.");
        } else {
            return routed ? upstream(failure) : null;
        }
    }

    /** Over HTTP/1.1 the connection ends: what follows may have been sent into the tunnel, and is no request. */
    private static Refusal connect() {
        HttpHeaders headers = new HttpHeaders();
        headers.set(HttpHeaders.ALLOW, "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");
        headers.set(HttpHeaders.CONNECTION, "close");
        return new Refusal(
                HttpStatus.METHOD_NOT_ALLOWED, "connect", "The gateway opens no tunnels.", List.of(), null, headers);
    }

    private Refusal identity(IdentityRefusedException failure) {
        IdentityRefusedException.Reason reason = failure.reason();
        HttpHeaders headers = new HttpHeaders();
        if (reason.status == HttpStatus.UNAUTHORIZED) {
            for (IdentitySource source : policy.current().identification().sources()) {
                headers.add(HttpHeaders.WWW_AUTHENTICATE, challenge(source, reason));
            }
        }
        Duration retryAfter = reason == IdentityRefusedException.Reason.UNAVAILABLE ? Duration.ofSeconds(1) : null;
        return new Refusal(reason.status, reason.label, reason.detail, List.of(), retryAfter, headers);
    }

    /** How the tenant could be named by this way; {@code Bearer} is RFC 6750's, what is not in {@code Authorization} is ours. */
    private static String challenge(IdentitySource source, IdentityRefusedException.Reason reason) {
        if (source instanceof IdentitySource.ClientCertificate certificate) {
            return "Fairgate certificate=\"%s\"".formatted(certificate.name().label());
        }
        String scheme = source.readScheme();
        if (scheme == null) {
            return "Fairgate header=\"%s\"".formatted(source.readHeader());
        }
        if (!HttpHeaders.AUTHORIZATION.equalsIgnoreCase(source.readHeader())) {
            return "Fairgate header=\"%s\", scheme=\"%s\"".formatted(source.readHeader(), scheme);
        }
        boolean invalid =
                source instanceof IdentitySource.Jwt && reason == IdentityRefusedException.Reason.INVALID_TOKEN;
        return scheme + " realm=\"fairgate\"" + (invalid ? ", error=\"invalid_token\"" : "");
    }

    private Refusal quota(QuotaRefusedException failure) {
        HttpHeaders headers = new HttpHeaders();
        RateLimitFields.add(headers, failure.decision().balances(), told());
        Duration wait = failure.decision().retryAfter();
        return new Refusal(
                HttpStatus.TOO_MANY_REQUESTS,
                "quota",
                "The tenant's quota is used up.",
                failure.decision().violated(),
                wait.equals(Balance.NEVER) ? null : retryAfter.spread(wait),
                headers);
    }

    private Refusal permit(PermitRefusedException failure) {
        if (failure.reason() == RefusalReason.DRAINING) {
            return draining();
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
     * The tenant's own limit that refused, as a policy in the unit that the draft has for permits. Nothing when the tenant
     * has none: what then makes a request too large is what others reserve, and that is not for it to know.
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

    private static Refusal draining() {
        HttpHeaders headers = new HttpHeaders();
        headers.add(HttpHeaders.CONNECTION, "close");
        return new Refusal(
                HttpStatus.SERVICE_UNAVAILABLE,
                "draining",
                "This gateway is shutting down.",
                List.of(),
                Duration.ofSeconds(1),
                headers);
    }

    private static @Nullable Refusal upstream(Throwable failure) {
        if (failure instanceof ReadTimeoutException
                || failure instanceof TimeoutException
                || (failure instanceof ResponseStatusException status
                        && status.getStatusCode().isSameCodeAs(HttpStatus.GATEWAY_TIMEOUT))) {
            return Refusal.of(HttpStatus.GATEWAY_TIMEOUT, "upstream-timeout", "The upstream did not answer in time.");
        }
        if (failure instanceof IOException || failure instanceof UnaskedUpgradeException) {
            return Refusal.of(
                    HttpStatus.BAD_GATEWAY, "upstream-lost", "The upstream could not be reached, or broke off.");
        }
        return null;
    }
}
