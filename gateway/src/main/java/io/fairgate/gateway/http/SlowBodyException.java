package io.fairgate.gateway.http;

import io.netty.channel.ChannelException;

/** A body did not arrive in time; the connection is closed after the answer. It has no stack trace. */
public final class SlowBodyException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    SlowBodyException(Throwable cause) {
        super("The body took too long to come.", cause, false, false);
    }

    /** Reactor Netty's own exception is not public; no other exception of its base type is raised while a body is read. */
    static boolean is(Throwable failure) {
        return failure instanceof ChannelException || failure instanceof SlowBodyException;
    }
}
