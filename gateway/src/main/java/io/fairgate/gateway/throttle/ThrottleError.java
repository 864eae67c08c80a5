package io.fairgate.gateway.throttle;

import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;

/**
 * The errors of the protocol, as throttle's clients know them: they compare these texts, including the spelling mistakes.
 *
 * <p>Errors of the protocol itself have no content type, and errors in the form of a request are text, as in throttle.
 */
public final class ThrottleError extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private static final String UNKNOWN_PEER = "Unknown peer";
    private static final String TEXT = "text/plain; charset=utf-8";

    private final HttpStatus status;
    private final String contentType;
    private final String text;
    private final @Nullable String reason;

    private ThrottleError(HttpStatus status, String contentType, String text, @Nullable String reason) {
        super(text, null, false, false);
        this.status = status;
        this.contentType = contentType;
        this.text = text;
        this.reason = reason;
    }

    Answer answer() {
        return new Answer(status, contentType, text);
    }

    /** One word, for the audit log; null when the refusal has been recorded elsewhere. */
    @Nullable
    String reason() {
        return reason;
    }

    /** The same error, for a refusal by a pool or a quota that has been recorded already. */
    ThrottleError toldAlready() {
        return new ThrottleError(status, contentType, text, null);
    }

    /** The same error, but "Shutting down" instead of "Unknown peer": the shutdown may have ended the peer. */
    ThrottleError unlessUnknownPeer() {
        return text.equals(UNKNOWN_PEER) ? shuttingDown() : this;
    }

    // ---- errors of the protocol ----

    static ThrottleError unknownSemaphore() {
        return domain(HttpStatus.BAD_REQUEST, "unknown-pool", "Unknown semaphore");
    }

    static ThrottleError unknownPeer() {
        return domain(HttpStatus.BAD_REQUEST, "lease-expired", UNKNOWN_PEER);
    }

    static ThrottleError invalidLockCount(long found) {
        return domain(
                HttpStatus.BAD_REQUEST,
                "bad-request",
                "Lock count must be a positive number. Found: %d.".formatted(found));
    }

    static ThrottleError never(long asked, long max) {
        return domain(
                HttpStatus.CONFLICT,
                "never-fits",
                "Lock can never be acquired. Lock asks for count %d yet full count is only %d.".formatted(asked, max));
    }

    /** A limit of the tenant, which the protocol does not have. The text begins like the one that clients look for. */
    public static ThrottleError neverForThisTenant(long asked) {
        return domain(
                HttpStatus.CONFLICT,
                null,
                "Lock can never be acquired. Lock asks for count %d, more than this tenant may ever hold."
                        .formatted(asked));
    }

    static ThrottleError deadlock(int current, int requested) {
        return domain(
                HttpStatus.CONFLICT,
                "deadlock",
                "Lock hierachy violation. This may deadlock. The current lock level is %d the\n        requested lock level was %d."
                        .formatted(current, requested));
    }

    static ThrottleError alreadyPending() {
        return domain(
                HttpStatus.CONFLICT, "already-pending", "Already pending. Only one pendig lock per peer is allowed.");
    }

    static ThrottleError changeThroughRestore() {
        return domain(HttpStatus.CONFLICT, "restore-conflict", "Restore is not allowed to change existing peers.");
    }

    static ThrottleError shrinkingLockCount() {
        return domain(
                HttpStatus.NOT_IMPLEMENTED,
                "shrinking",
                "Shrinking the count of an existing lock is currently not implemented.");
    }

    // ---- limits that throttle does not have; its clients retry after a 503 ----

    public static ThrottleError quotaUsedUp() {
        return domain(HttpStatus.SERVICE_UNAVAILABLE, null, "The quota of this tenant is used up.");
    }

    static ThrottleError tooManyPeers() {
        return domain(HttpStatus.SERVICE_UNAVAILABLE, "too-many-leases", "Too many peers.");
    }

    static ThrottleError tooManyPending() {
        return domain(HttpStatus.SERVICE_UNAVAILABLE, null, "Too many locks are pending.");
    }

    static ThrottleError shuttingDown() {
        return domain(HttpStatus.SERVICE_UNAVAILABLE, "draining", "Shutting down.");
    }

    static ThrottleError unwell() {
        return form(HttpStatus.SERVICE_UNAVAILABLE, "unwell", "Not Ok");
    }

    private static ThrottleError domain(HttpStatus status, @Nullable String reason, String text) {
        return new ThrottleError(status, "", text, reason);
    }

    private static ThrottleError form(HttpStatus status, String reason, String text) {
        return new ThrottleError(status, TEXT, text, reason);
    }

    // ---- errors in the form of a request ----

    static ThrottleError notJson() {
        return form(
                HttpStatus.UNSUPPORTED_MEDIA_TYPE,
                "unsupported-media-type",
                "Expected request with `Content-Type: application/json`");
    }

    static ThrottleError unreadableBody(String why) {
        return form(HttpStatus.BAD_REQUEST, "bad-request", "Failed to parse the request body as JSON: " + why);
    }

    static ThrottleError unsuitableBody(String why) {
        return form(
                HttpStatus.UNPROCESSABLE_CONTENT,
                "bad-request",
                "Failed to deserialize the JSON body into the target type: " + why);
    }

    static ThrottleError bodyTooLarge() {
        return form(
                HttpStatus.CONTENT_TOO_LARGE,
                "body-too-large",
                "Failed to buffer the request body: length limit exceeded");
    }

    static ThrottleError bodyTooSlow() {
        return form(HttpStatus.REQUEST_TIMEOUT, "body-too-slow", "The request body took too long to come.");
    }

    static ThrottleError unsuitableQuery(String why) {
        return form(HttpStatus.BAD_REQUEST, "bad-request", "Failed to deserialize query string: " + why);
    }

    static ThrottleError unsuitablePath(String why) {
        return form(HttpStatus.BAD_REQUEST, "bad-request", "Invalid URL: " + why);
    }
}
