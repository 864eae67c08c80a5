package io.fairgate.client;

import org.jspecify.annotations.Nullable;

/**
 * A lease was not granted, or not released, with the reason. A refusal is expected, so it has no stack trace.
 *
 * <p>Reasons are the server's ({@code unknown-pool}, {@code never-fits}, …) and two of this client: {@code max-wait}, when
 * the permits were not granted in time, and {@code unreachable}, when no usable response came.
 */
public final class LeaseException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final int status;
    private final String reason;
    private final String detail;

    LeaseException(int status, String reason, String detail, @Nullable Throwable cause) {
        super("%d %s: %s".formatted(status, reason, detail), cause, false, false);
        this.status = status;
        this.reason = reason;
        this.detail = detail;
    }

    static LeaseException refused(ApiResponse response) {
        return new LeaseException(response.status(), response.reason(), response.detail(), null);
    }

    static LeaseException unreachable(Throwable cause) {
        return new LeaseException(0, "unreachable", String.valueOf(cause.getMessage()), cause);
    }

    static LeaseException stillWaiting() {
        return new LeaseException(202, "max-wait", "the permits were not granted within maxWait", null);
    }

    /** The HTTP status of the last response; 0 when there was none. */
    public int status() {
        return status;
    }

    /** A label, for programs. For a response that is no problem of the lease API: {@code http-} and its status. */
    public String reason() {
        return reason;
    }

    /** A sentence, for people. */
    public String detail() {
        return detail;
    }
}
