package io.fairgate.proofs;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/** The same while permits are about to lie open again, after somebody had waited long ago. */
@JCStressTest
@State
@Outcome(
        id = "over, not asked, running, not asked, 1 in flight",
        expect = ACCEPTABLE,
        desc = "Whoever came first, the one that asked has the permit.")
@Outcome(expect = FORBIDDEN, desc = "The wake-up was lost: somebody waits, and the permit is free.")
public class ReleaseAgainstWaiterAsPermitsOpen {

    private final PoolOfRequests pool = PoolOfRequests.nearlyCalm(1, 1);

    public ReleaseAgainstWaiterAsPermitsOpen() {
        pool.acquire(0);
    }

    @Actor
    public void release() {
        pool.release(0);
        pool.pass();
        pool.pass();
    }

    @Actor
    public void acquire() {
        pool.acquire(2);
    }

    @Arbiter
    public void outcome(L_Result result) {
        result.r1 = pool.outcome();
    }
}
