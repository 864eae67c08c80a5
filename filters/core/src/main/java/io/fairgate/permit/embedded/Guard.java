package io.fairgate.permit.embedded;

import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/** Runs code of users, so that an error in it does not cost a permit. */
final class Guard {

    private Guard() {}

    static void run(Runnable call) {
        try {
            call.run();
        } catch (RuntimeException | Error e) {
            drop(e);
        }
    }

    /** Passes the error to Reactor's hook for dropped errors; if the hook throws as well, the error is lost. */
    static void drop(Throwable bug) {
        try {
            Operators.onErrorDropped(bug, Context.empty());
        } catch (RuntimeException | Error broken) {
            bug.addSuppressed(broken);
        }
    }
}
