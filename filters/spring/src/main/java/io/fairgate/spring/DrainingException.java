package io.fairgate.spring;

/** The gateway is shutting down and takes no new requests. */
final class DrainingException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    DrainingException() {
        super("draining", null, false, false);
    }
}
