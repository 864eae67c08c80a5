package io.fairgate.gateway.throttle;

import org.jspecify.annotations.Nullable;
import org.tomlj.TomlPosition;

/** A configuration of throttle that is none. */
public final class InvalidThrottleFileException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final int line;

    InvalidThrottleFileException(@Nullable TomlPosition where, String message) {
        super(message, null, false, false);
        this.line = where == null ? 1 : where.line();
    }

    /** As a line for who has to mend it. */
    public String in(String file) {
        return "%s:%d: %s".formatted(file, line, getMessage());
    }
}
