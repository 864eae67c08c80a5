package io.fairgate.proofs;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/** The pool closes while the last permit is released and a request waits for it. */
@JCStressTest
@State
@Outcome(
        id = "over, not asked, over, not asked, closed, 0 in flight",
        expect = ACCEPTABLE,
        desc = "The waiting request was served, and the pool is closed.")
@Outcome(expect = FORBIDDEN, desc = "The pool closed before the request was served, or never closes.")
public class CloseAgainstRelease {

    private final PoolOfRequests pool = PoolOfRequests.open(1, 1);

    public CloseAgainstRelease() {
        pool.acquire(0);
        pool.acquire(2);
        pool.release(2);
    }

    @Actor
    public void close() {
        pool.close();
    }

    @Actor
    public void release() {
        pool.release(0);
    }

    @Arbiter
    public void outcome(L_Result result) {
        result.r1 = pool.outcome();
    }
}
