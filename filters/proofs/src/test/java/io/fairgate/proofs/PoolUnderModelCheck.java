package io.fairgate.proofs;

import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;

/** What threads may do to a pool, and what then has to be the same as if they had done it one after the other. */
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

    /** Done by nobody in parallel: when all is over. */
    public String outcome() {
        return pool.outcome();
    }

    /** One permit, and then two. */
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

        /** To the size that it has: to be at work in the pool. */
        @Operation
        public void resize() {
            pool.resize(1);
        }
    }

    /**
     * Time and the size of the pool, too. What becomes of a request then depends on whether its time is up before another
     * thread has looked at it, so all that can be said is what holds in each case.
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
