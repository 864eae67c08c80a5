package io.fairgate.gateway.throttle;

import org.jspecify.annotations.Nullable;
import org.tomlj.TomlPosition;

/** An invalid configuration file of throttle. */
public final class InvalidThrottleFileException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final int line;

    InvalidThrottleFileException(@Nullable TomlPosition where, String message) {
        super(message, null, false, false);
        this.line = where == null ? 1 : where.line();
    }

    /** The error as {@code FILE:LINE: MESSAGE}. */
    public String in(String file) {
        return "%s:%d: %s".formatted(file, line, getMessage());
    }
}
