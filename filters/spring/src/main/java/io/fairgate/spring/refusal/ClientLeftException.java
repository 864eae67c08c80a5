package io.fairgate.spring.refusal;

/** The client closed its connection while its request waited, so no response can be sent. */
public final class ClientLeftException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public ClientLeftException() {
        super("the client has left", null, false, false);
    }
}
