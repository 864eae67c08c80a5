package io.fairgate.gateway.start;

import java.util.List;

/** Unknown settings of the process. The message has one per line. */
final class UnknownSettingException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    UnknownSettingException(List<String> mistakes) {
        super(String.join("\n", mistakes));
    }
}
