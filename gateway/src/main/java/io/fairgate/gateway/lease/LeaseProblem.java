package io.fairgate.gateway.lease;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;

/** An error answer of the lease API. Refusals that any request can get are not among them. It has no stack trace. */
final class LeaseProblem extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final HttpStatus status;
    private final String reason;
    private final transient @Nullable Duration retryAfter;

    private LeaseProblem(HttpStatus status, String reason, String detail, @Nullable Duration retryAfter) {
        super(detail, null, false, false);
        this.status = status;
        this.reason = reason;
        this.retryAfter = retryAfter;
    }

    private static LeaseProblem of(HttpStatus status, String reason, String detail) {
        return new LeaseProblem(status, reason, detail, null);
    }

    HttpStatus status() {
        return status;
    }

    String reason() {
        return reason;
    }

    /** One sentence for people. */
    String detail() {
        return String.valueOf(getMessage());
    }

    @Nullable
    Duration retryAfter() {
        return retryAfter;
    }

    // ---- all problems ----

    static LeaseProblem badRequest(String what, String found, String expected) {
        return of(HttpStatus.BAD_REQUEST, "bad-request", "%s: %s (expected: %s)".formatted(what, found, expected));
    }

    static LeaseProblem uncheckable() {
        return of(
                HttpStatus.UNAUTHORIZED,
                "invalid-key",
                "The policy has no way to check this (expected: an api-key for a secret, a header for a name alone).");
    }

    static LeaseProblem notItsKey() {
        return of(HttpStatus.FORBIDDEN, "contradiction", "What the request shows names different tenants.");
    }

    static LeaseProblem contentType() {
        return of(
                HttpStatus.UNSUPPORTED_MEDIA_TYPE,
                "unsupported-media-type",
                "The body is of another type (expected: Content-Type: application/json).");
    }

    static LeaseProblem bodyTooLong(int mostBytes) {
        return of(
                HttpStatus.CONTENT_TOO_LARGE,
                "body-too-large",
                "The body is too long (expected: at most %d bytes).".formatted(mostBytes));
    }

    static LeaseProblem bodyTooSlow() {
        return of(HttpStatus.REQUEST_TIMEOUT, "body-too-slow", "The body took too long to come.");
    }

    static LeaseProblem notFound() {
        return of(HttpStatus.NOT_FOUND, "not-found", "There is nothing under this path.");
    }

    static LeaseProblem notAllowed() {
        return of(
                HttpStatus.METHOD_NOT_ALLOWED, "method-not-allowed", "This path has other methods: Allow names them.");
    }

    static LeaseProblem unknownPool() {
        return of(HttpStatus.NOT_FOUND, "unknown-pool", "There is no such pool.");
    }

    static LeaseProblem expired() {
        return of(
                HttpStatus.NOT_FOUND,
                "lease-expired",
                "The tenant has no such lease: it was never granted, was released, or has expired.");
    }

    static LeaseProblem neverFits() {
        return of(HttpStatus.CONFLICT, "never-fits", "The tenant may never have that many permits at once.");
    }

    static LeaseProblem ended() {
        return of(
                HttpStatus.CONFLICT,
                "lease-ended",
                "The lease of this key was released, has expired, or was refused: use a new key.");
    }

    static LeaseProblem keyReused() {
        return of(
                HttpStatus.UNPROCESSABLE_CONTENT,
                "idempotency-key-reused",
                "This key was used for other pools or permits: use a new key.");
    }

    static LeaseProblem tooMany() {
        return new LeaseProblem(
                HttpStatus.SERVICE_UNAVAILABLE,
                "too-many-leases",
                "There are as many leases as there may be.",
                Duration.ofSeconds(1));
    }

    static LeaseProblem restoreClosed() {
        return of(
                HttpStatus.CONFLICT,
                "restore-closed",
                "The server was started too long ago for a lease to be restored: acquire a new one.");
    }

    /** @param why one sentence */
    static LeaseProblem receiptInvalid(String why) {
        return of(HttpStatus.CONFLICT, "receipt-invalid", why);
    }

    static LeaseProblem receiptExpired() {
        return of(
                HttpStatus.CONFLICT,
                "receipt-expired",
                "The lease of this receipt has expired: acquire a new one, or restore it without the receipt.");
    }

    static LeaseProblem restoreConflict() {
        return of(HttpStatus.CONFLICT, "restore-conflict", "This id is in use for something else.");
    }
}
