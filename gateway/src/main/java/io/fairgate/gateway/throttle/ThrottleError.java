package io.fairgate.gateway.throttle;

import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;

/**
 * The errors of the protocol, as throttle's clients know them: they compare these texts, including the spelling mistakes.
 *
 * <p>Errors of the protocol itself have no content type, and errors in the form of a request are text, as in throttle. They
 * have neither a stack trace nor suppressed errors, so one object serves all calls.
 */
@SuppressWarnings("StaticAssignmentOfThrowable") // They have no stack trace.
public final class ThrottleError extends RuntimeException {

    private static final long serialVersionUID = 1L;

    // ---- errors of the protocol ----

    static final ThrottleError UNKNOWN_SEMAPHORE = domain(400, "unknown-pool", "Unknown semaphore");

    static final ThrottleError UNKNOWN_PEER = domain(400, "lease-expired", "Unknown peer");

    static final ThrottleError ALREADY_PENDING =
            domain(409, "already-pending", "Already pending. Only one pendig lock per peer is allowed.");

    static final ThrottleError CHANGE_THROUGH_RESTORE =
            domain(409, "restore-conflict", "Restore is not allowed to change existing peers.");

    static final ThrottleError SHRINKING =
            domain(501, "shrinking", "Shrinking the count of an existing lock is currently not implemented.");

    // ---- limits that throttle does not have; its clients retry after a 503 ----

    public static final ThrottleError QUOTA_USED_UP = domain(503, null, "The quota of this tenant is used up.");

    static final ThrottleError TOO_MANY_PEERS = domain(503, "too-many-leases", "Too many peers.");

    static final ThrottleError TOO_MANY_PENDING = domain(503, null, "Too many locks are pending.");

    static final ThrottleError SHUTTING_DOWN = domain(503, "draining", "Shutting down.");

    /** The pool that refuses for this reason has recorded it. */
    static final ThrottleError POOL_SHUTTING_DOWN = domain(503, null, "Shutting down.");

    static final ThrottleError UNWELL = form(503, "unwell", "Not Ok");

    // ---- errors in the form of a request ----

    static final ThrottleError NOT_JSON =
            form(415, "unsupported-media-type", "Expected request with `Content-Type: application/json`");

    static final ThrottleError BODY_TOO_LARGE =
            form(413, "body-too-large", "Failed to buffer the request body: length limit exceeded");

    static final ThrottleError BODY_TOO_SLOW = form(408, "body-too-slow", "The request body did not arrive in time.");

    private final transient ThrottleAnswer answer;
    private final @Nullable String reason;

    private ThrottleError(ThrottleAnswer answer, @Nullable String reason) {
        super(answer.body(), null, false, false);
        this.answer = answer;
        this.reason = reason;
    }

    ThrottleAnswer answer() {
        return answer;
    }

    /** One word, for the audit log; null when the refusal has been recorded elsewhere. */
    @Nullable
    String reason() {
        return reason;
    }

    private static ThrottleError domain(int status, @Nullable String reason, String text) {
        return new ThrottleError(new ThrottleAnswer(HttpStatus.valueOf(status), "", text), reason);
    }

    private static ThrottleError form(int status, String reason, String text) {
        return new ThrottleError(ThrottleAnswer.text(HttpStatus.valueOf(status), text), reason);
    }

    // ---- errors with details ----

    static ThrottleError invalidLockCount(long found) {
        return domain(400, "bad-request", "Lock count must be a positive number. Found: %d.".formatted(found));
    }

    static ThrottleError never(long asked, long max) {
        return domain(
                409,
                "never-fits",
                "Lock can never be acquired. Lock asks for count %d yet full count is only %d.".formatted(asked, max));
    }

    /** A limit of the tenant, which the protocol does not have. The text begins like the one that clients look for. */
    static ThrottleError neverForThisTenant(long asked) {
        return domain(
                409,
                null,
                "Lock can never be acquired. Lock asks for count %d, more than this tenant may ever hold."
                        .formatted(asked));
    }

    static ThrottleError deadlock(int current, int requested) {
        return domain(
                409,
                "deadlock",
                "Lock hierachy violation. This may deadlock. The current lock level is %d the\n        requested lock level was %d."
                        .formatted(current, requested));
    }

    static ThrottleError unreadableBody(String why) {
        return form(400, "bad-request", "Failed to parse the request body as JSON: " + why);
    }

    static ThrottleError unsuitableBody(String why) {
        return form(422, "bad-request", "Failed to deserialize the JSON body into the target type: " + why);
    }

    static ThrottleError unsuitableQuery(String why) {
        return form(400, "bad-request", "Failed to deserialize query string: " + why);
    }

    static ThrottleError unsuitablePath(String why) {
        return form(400, "bad-request", "Invalid URL: " + why);
    }
}
