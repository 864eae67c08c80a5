package io.fairgate.proofs;

import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;

/** The operations of the threads, and the outcome, which must be as if the operations had run one after the other. */
@Param(name = "request", gen = IntGen.class, conf = "0:3")
public abstract class PoolUnderModelCheck {

    final PoolOfRequests pool;

    PoolUnderModelCheck(PoolOfRequests pool) {
        this.pool = pool;
    }

    @Operation
    public final void acquire(@Param(name = "request") int request) {
        pool.acquire(request);
    }

    @Operation
    public final void release(@Param(name = "request") int request) {
        pool.release(request);
    }

    @Operation
    public final void cancel(@Param(name = "request") int request) {
        pool.cancel(request);
    }

    @Operation
    public final void pass() {
        pool.pass();
    }

    /** Not an operation: it runs when all threads have ended. */
    public String outcome() {
        return pool.outcome();
    }

    /** A pool with one permit, and later two. */
    public abstract static class Grows extends PoolUnderModelCheck {
        Grows(PoolOfRequests pool) {
            super(pool);
        }

        @Operation
        public final void grow() {
            pool.resize(2);
        }
    }

    public static final class OpenOne extends Grows {
        public OpenOne() {
            super(PoolOfRequests.open(1, 2));
        }
    }

    public static final class OpenTwo extends PoolUnderModelCheck {
        public OpenTwo() {
            super(PoolOfRequests.open(2, 2));
        }
    }

    public static final class NearlyCalmOne extends Grows {
        public NearlyCalmOne() {
            super(PoolOfRequests.nearlyCalm(1, 2));
        }
    }

    public static final class NearlyCalmTwo extends PoolUnderModelCheck {
        public NearlyCalmTwo() {
            super(PoolOfRequests.nearlyCalm(2, 2));
        }
    }

    public static final class Closing extends PoolUnderModelCheck {
        public Closing() {
            super(PoolOfRequests.open(1, 1));
        }

        @Operation
        public void close() {
            pool.close();
        }

        /** Keeps the size: this only makes the thread work in the pool. */
        @Operation
        public void resize() {
            pool.resize(1);
        }
    }

    /**
     * Adds time and a smaller pool. Then the outcome of a request depends on whether its time ends before another thread looks
     * at it, so the check is limited to what must always hold.
     */
    public abstract static class AtAnyTime extends PoolUnderModelCheck {
        AtAnyTime(PoolOfRequests pool) {
            super(pool);
        }

        @Operation
        public final void timeOut(@Param(name = "request") int request) {
            pool.timeOut(request);
        }

        @Operation
        public final void expire() {
            pool.expire();
        }

        @Operation
        public final void fail(@Param(name = "request") int request) {
            pool.fail(request);
        }

        @Operation
        public final void shrink() {
            pool.resize(1);
        }

        @Override
        public final String outcome() {
            String outcome = pool.outcomeWhenLate();
            return outcome.startsWith("broken") ? outcome : "consistent";
        }
    }

    public static final class OpenAtAnyTime extends AtAnyTime {
        public OpenAtAnyTime() {
            super(PoolOfRequests.timed(2));
        }
    }

    public static final class NearlyCalmAtAnyTime extends AtAnyTime {
        public NearlyCalmAtAnyTime() {
            super(PoolOfRequests.nearlyCalmAndTimed(2));
        }
    }
}
