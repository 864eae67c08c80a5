package io.fairgate.proofs;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/** An open permit is put back while somebody comes who would have to wait for it: the permits are shut meanwhile. */
@JCStressTest
@State
@Outcome(
        id = "over, not asked, running, not asked, 1 in flight",
        expect = ACCEPTABLE,
        desc = "Whoever came first, the one that asked has the permit.")
@Outcome(expect = FORBIDDEN, desc = "The wake-up was lost: somebody waits, and the permit is free.")
public class ReleaseAgainstFirstWaiter {

    private final PoolOfRequests pool = PoolOfRequests.open(1, 1);

    public ReleaseAgainstFirstWaiter() {
        pool.acquire(0);
    }

    @Actor
    public void release() {
        pool.release(0);
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
