package io.fairgate.permit;

import java.time.Duration;

/** The work held its permits for longer than allowed and was cancelled. Carries no stack trace. */
public final class HoldExpiredException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final String pool;

    public HoldExpiredException(String pool, Duration maxHold) {
        super("pool %s: held for longer than max-hold, %s".formatted(pool, maxHold), null, true, false);
        this.pool = pool;
    }

    public String pool() {
        return pool;
    }
}
