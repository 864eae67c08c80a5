package io.fairgate.permit.embedded;

import reactor.core.scheduler.Scheduler;
import reactor.util.concurrent.Queues;

/**
 * Resumes waiters on their event loops, after the drain has decided about them and outside of it: user code never runs inside
 * the drain, and a work that completes at once and thereby grants the next one does not nest.
 */
final class Dispatcher implements CommandLoop.Handler {

    private final CommandLoop loop;

    Dispatcher(Scheduler threads) {
        loop = new CommandLoop(Queues.unbounded().get(), this, threads);
    }

    /** A waiter to be resumed, or another task to be run; only for the drain. */
    void add(Runnable task) {
        loop.queue(task);
    }

    void dispatch() {
        loop.executeQueued();
    }

    @Override
    public void execute(Object command) {
        if (command instanceof Waiter waiter) {
            waiter.resume();
        } else {
            ((Runnable) command).run();
        }
    }
}
