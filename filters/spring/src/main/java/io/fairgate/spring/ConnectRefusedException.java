package io.fairgate.spring;

/** The client asked for a tunnel. */
final class ConnectRefusedException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    ConnectRefusedException() {
        super("CONNECT", null, false, false);
    }
}
