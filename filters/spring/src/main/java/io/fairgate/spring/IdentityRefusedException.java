package io.fairgate.spring;

import io.fairgate.tenant.TenantId;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;

/** The request names no tenant that may pass. Carries no stack trace. */
final class IdentityRefusedException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /** Why, with the status that says so. */
    enum Reason {
        MALFORMED(
                "malformed",
                HttpStatus.BAD_REQUEST,
                "What names the tenant is malformed (expected: one value; an id is 1 to 64 characters of [A-Za-z0-9._-])."),
        MISSING("missing", HttpStatus.UNAUTHORIZED, "The request does not say which tenant it belongs to."),
        INVALID_KEY("invalid-key", HttpStatus.UNAUTHORIZED, "The API key is not valid."),
        INVALID_TOKEN("invalid-token", HttpStatus.UNAUTHORIZED, "The token is not valid."),
        UNTRUSTED_PEER("untrusted-peer", HttpStatus.FORBIDDEN, "This peer may not name a tenant by a header."),
        CONTRADICTION("contradiction", HttpStatus.FORBIDDEN, "What the request shows names different tenants."),
        UNKNOWN_TENANT("unknown-tenant", HttpStatus.FORBIDDEN, "This tenant is not known here."),
        UNAVAILABLE(
                "identity-unavailable",
                HttpStatus.SERVICE_UNAVAILABLE,
                "The token cannot be verified now: the keys of its issuer are not there.");

        final String label;
        final HttpStatus status;
        final String detail;

        Reason(String label, HttpStatus status, String detail) {
            this.label = label;
            this.status = status;
            this.detail = detail;
        }
    }

    private final Reason reason;
    private final transient @Nullable TenantId claimed;
    private final @Nullable String key;

    /** Without anything that could be told of the request. */
    IdentityRefusedException(Reason reason) {
        this(reason, null, null);
    }

    /**
     * With what can be told to an operator.
     *
     * @param claimed whom the request says it belongs to; null when it says nothing that could be an id
     * @param key the id of the digest of the API key that it shows; null when it shows none
     */
    IdentityRefusedException(Reason reason, @Nullable TenantId claimed, @Nullable String key) {
        super(reason.name(), null, false, false);
        this.reason = reason;
        this.claimed = claimed;
        this.key = key;
    }

    Reason reason() {
        return reason;
    }

    @Nullable
    TenantId claimed() {
        return claimed;
    }

    @Nullable
    String key() {
        return key;
    }
}
