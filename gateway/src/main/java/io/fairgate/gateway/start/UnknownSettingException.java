package io.fairgate.gateway.start;

import java.util.List;

/** Settings of the process that nobody reads. The message has one a line. */
final class UnknownSettingException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    UnknownSettingException(List<String> mistakes) {
        super(String.join("\n", mistakes));
    }
}
