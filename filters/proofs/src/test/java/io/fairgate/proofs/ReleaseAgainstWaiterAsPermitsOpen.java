package io.fairgate.proofs;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/** The same while the fast path is about to open again, long after the last wait. */
@JCStressTest
@State
@Outcome(
        id = "over, not asked, running, not asked, 1 in flight",
        expect = ACCEPTABLE,
        desc = "In both orders the new request has the permit.")
@Outcome(expect = FORBIDDEN, desc = "The wake-up was lost: the request waits, and the permit is free.")
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
