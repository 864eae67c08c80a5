package io.fairgate.permit.embedded;

import reactor.util.context.Context;

/**
 * What a request does with its permits. There are three kinds: the permits are taken at once or not at all
 * ({@link #IMMEDIATE}), awaited and handed to the subscriber ({@link AwaitedAcquisition}), or held around a work
 * ({@link WorkAcquisition}). The state of the request is in its {@link Waiter}.
 */
interface Acquisition {

    /** Nothing is to be done later: {@link Waiter#takeAtOnce} reads the state itself. */
    Acquisition IMMEDIATE = new Acquisition() {
        @Override
        public Context currentContext() {
            return Context.empty();
        }

        @Override
        public void begin(int from) {}

        @Override
        public void resumed() {}

        @Override
        public void fail(Throwable error) {}
    };

    /** The context of the subscriber. */
    Context currentContext();

    /** The permits are there, in time, and this is the event loop. Moves the waiter on from {@code from}. */
    void begin(int from);

    /** The request was resumed after it had begun: perhaps its hold is over. */
    void resumed();

    /** The request has ended, and its permits are back. */
    void fail(Throwable error);
}
