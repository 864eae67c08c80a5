package io.fairgate.spring;

/** The client closed its connection while its request waited. Nobody is there to be answered. */
final class ClientLeftException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    ClientLeftException() {
        super("the client has left", null, false, false);
    }
}
