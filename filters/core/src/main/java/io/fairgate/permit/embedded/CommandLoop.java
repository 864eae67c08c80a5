package io.fairgate.permit.embedded;

import java.util.Queue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import reactor.core.scheduler.Scheduler;

/**
 * Commands that one thread at a time executes. A thread that submits a command while another thread is at work leaves at once,
 * and the other thread executes it: no thread ever waits for another. After {@link #BATCH} commands the loop continues on a
 * thread of the scheduler, so that no thread works for the others for long. A command that throws is a bug; the others go on.
 */
final class CommandLoop {

    static final int BATCH = 256;

    /** What executes the commands, one thread at a time. */
    interface Handler {

        void execute(Object command);

        /** Before a round of commands. {@code now} is the time, or {@link EmbeddedPermitPool#UNKNOWN}. */
        default void beginRound(long now) {}

        /** After a round of commands. */
        default void endRound() {}

        /** This thread has left the loop; another one may be at work. */
        default void leave() {}
    }

    private final Queue<Object> commands;
    private final AtomicInteger count = new AtomicInteger();
    private final Handler handler;
    private final Scheduler threads;

    CommandLoop(Queue<Object> commands, Handler handler, Scheduler threads) {
        this.commands = commands;
        this.handler = handler;
        this.threads = threads;
    }

    /** Executes the command now, or has another thread execute it soon. */
    void submit(Object command, long now) {
        if (count.compareAndSet(0, 1)) {
            // No other thread is at work and the queue is empty, so the command can be executed without the queue.
            handler.beginRound(now);
            execute(command);
            loop(1);
        } else {
            commands.offer(command);
            if (count.getAndIncrement() == 0) {
                handler.beginRound(EmbeddedPermitPool.UNKNOWN);
                loop(1);
            }
        }
        handler.leave();
    }

    /** Queues a command until {@link #executeQueued}. */
    void queue(Object command) {
        commands.offer(command);
    }

    void executeQueued() {
        if (!commands.isEmpty() && count.getAndIncrement() == 0) {
            loop(1);
        }
    }

    private void loop(int counted) {
        int seen = counted;
        while (true) {
            boolean more = executeBatch();
            handler.endRound();
            if (more && continueElsewhere()) {
                return;
            }
            seen = more ? recount() : count.addAndGet(-seen);
            if (seen == 0) {
                return;
            }
            handler.beginRound(EmbeddedPermitPool.UNKNOWN);
        }
    }

    /** Executes up to a batch of commands; true when there may be more. */
    private boolean executeBatch() {
        for (int i = 0; i < BATCH; i++) {
            Object next = commands.poll();
            if (next == null) {
                return false;
            }
            execute(next);
        }
        return true;
    }

    private void execute(Object command) {
        try {
            handler.execute(command);
        } catch (RuntimeException | Error e) {
            Guard.drop(e);
        }
    }

    /**
     * Sets the count to 1, and the loop goes through the queue again: all that was counted is in there. Otherwise the count
     * would overflow in a loop that never ends.
     */
    private int recount() {
        count.addAndGet(1 - count.get());
        return 1;
    }

    /** Continues the loop on another thread; false when the scheduler is shut down. */
    private boolean continueElsewhere() {
        try {
            Runnable rest = () -> {
                handler.beginRound(EmbeddedPermitPool.UNKNOWN);
                loop(recount());
                handler.leave();
            };
            var unused = threads.schedule(rest, 0, TimeUnit.NANOSECONDS);
            return true;
        } catch (RejectedExecutionException shutDown) {
            return false;
        }
    }
}
