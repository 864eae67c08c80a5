package io.fairgate.gateway.http;

import io.netty.channel.ChannelException;

/** A body that has not come in time; the connection is closed after the answer. Carries no stack trace. */
public final class SlowBodyException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    SlowBodyException(Throwable cause) {
        super("The body took too long to come.", cause, false, false);
    }

    /** Reactor Netty's own exception is not public; nothing else of its kind comes while a body is read. */
    static boolean is(Throwable failure) {
        return failure instanceof ChannelException || failure instanceof SlowBodyException;
    }
}
