package io.fairgate.spring;

import org.springframework.http.HttpStatus;

/** The request names no tenant that may pass. Carries no stack trace, and nothing of what the client sent. */
final class IdentityRefusedException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /** Why, with the status that says so. */
    enum Reason {
        MALFORMED(
                HttpStatus.BAD_REQUEST,
                "The tenant's name is malformed (expected: one value, 1 to 64 characters of [A-Za-z0-9._-])."),
        MISSING(HttpStatus.UNAUTHORIZED, "The request does not say which tenant it belongs to."),
        UNTRUSTED_PEER(HttpStatus.FORBIDDEN, "This peer may not name a tenant by a header."),
        UNKNOWN_TENANT(HttpStatus.FORBIDDEN, "This tenant is not known here.");

        final HttpStatus status;
        final String detail;

        Reason(HttpStatus status, String detail) {
            this.status = status;
            this.detail = detail;
        }
    }

    private final Reason reason;

    IdentityRefusedException(Reason reason) {
        super(reason.name(), null, false, false);
        this.reason = reason;
    }

    Reason reason() {
        return reason;
    }
}
