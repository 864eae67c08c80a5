package io.fairgate.gateway.lease;

import io.fairgate.gateway.http.HttpProblem;

/** The errors of the lease API. Refusals that any request can get are not among them. */
@SuppressWarnings("StaticAssignmentOfThrowable") // They have no stack trace.
final class LeaseProblems {

    static final HttpProblem MALFORMED_TARGET =
            HttpProblem.badRequest("path", "malformed", "a URI, with escapes such as %2F");

    static final HttpProblem NOT_FOUND = new HttpProblem(404, "not-found", "The path does not exist.");

    static final HttpProblem EXPIRED = new HttpProblem(
            404, "lease-expired", "The tenant has no such lease: it was never granted, was released, or has expired.");

    static final HttpProblem NOT_ALLOWED = new HttpProblem(
            405, "method-not-allowed", "The path does not have this method. The Allow header lists its methods.");

    static final HttpProblem BODY_TOO_SLOW = new HttpProblem(408, "body-too-slow", "The body did not arrive in time.");

    static final HttpProblem ENDED =
            new HttpProblem(409, "lease-ended", "The lease of this key was released or has expired: use a new key.");

    static final HttpProblem RESTORE_CLOSED = new HttpProblem(
            409, "restore-closed", "The time in which leases can be restored is over: acquire a new lease.");

    static final HttpProblem RESTORE_CONFLICT =
            new HttpProblem(409, "restore-conflict", "The id belongs to another lease.");

    static final HttpProblem BODY_TOO_LONG = new HttpProblem(
            413,
            "body-too-large",
            "The body is too long (expected: at most %d bytes).".formatted(LeaseBody.MOST_BYTES));

    static final HttpProblem CONTENT_TYPE = new HttpProblem(
            415, "unsupported-media-type", "The body has another type (expected: Content-Type: application/json).");

    static final HttpProblem KEY_REUSED = new HttpProblem(
            422, "idempotency-key-reused", "The key was used before for other pools or permits: use a new key.");

    static final HttpProblem FAILED =
            new HttpProblem(500, "failed", "The call failed. The log of the gateway has the cause.");

    static final HttpProblem TOO_MANY =
            new HttpProblem(503, "too-many-leases", "The number of leases has reached its limit.");

    private static final int LONGEST_NAME = 64;

    private LeaseProblems() {}

    /** @param name as the caller has written it */
    static HttpProblem unknownPool(String name) {
        String shown = name.length() <= LONGEST_NAME ? "pool \"%s\"".formatted(name) : "pool with this name";
        return new HttpProblem(404, "unknown-pool", "The policy has no %s.".formatted(shown));
    }

    static HttpProblem neverFits(String pool) {
        return new HttpProblem(
                409,
                "never-fits",
                "The tenant can never hold so many permits of the pool \"%s\" at the same time.".formatted(pool));
    }

    static HttpProblem neverFits(String pool, int asked, int permits) {
        return new HttpProblem(
                409,
                "never-fits",
                "The tenant can never hold %d permits of the pool \"%s\" at the same time (expected: no more than its plan allows; the pool has %d)."
                        .formatted(asked, pool, permits));
    }
}
