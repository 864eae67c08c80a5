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
                "The tenant's name is malformed (expected: one value, 1 to 64 characters of [A-Za-z0-9._-])."),
        MISSING("missing", HttpStatus.UNAUTHORIZED, "The request does not say which tenant it belongs to."),
        UNTRUSTED_PEER("untrusted-peer", HttpStatus.FORBIDDEN, "This peer may not name a tenant by a header."),
        UNKNOWN_TENANT("unknown-tenant", HttpStatus.FORBIDDEN, "This tenant is not known here.");

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

    /** @param claimed whom the request says it belongs to; null when it says nothing that could be an id */
    IdentityRefusedException(Reason reason, @Nullable TenantId claimed) {
        super(reason.name(), null, false, false);
        this.reason = reason;
        this.claimed = claimed;
    }

    Reason reason() {
        return reason;
    }

    @Nullable
    TenantId claimed() {
        return claimed;
    }
}
