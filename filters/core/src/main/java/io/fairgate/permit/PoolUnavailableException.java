package io.fairgate.permit;

import org.jspecify.annotations.Nullable;

/**
 * The backend of the pool cannot be reached. The work was not started, and no permit is lost. It happens to many requests at
 * once, so it carries no stack trace.
 */
public final class PoolUnavailableException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public PoolUnavailableException(String pool, @Nullable Throwable cause) {
        super("pool %s: its backend cannot be reached".formatted(pool), cause, false, false);
    }
}
