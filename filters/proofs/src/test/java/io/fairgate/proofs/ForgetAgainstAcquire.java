package io.fairgate.proofs;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/**
 * A tenant that is not configured releases its last permit, which makes the scheduler forget it, while its next request
 * arrives. The fast path is closed.
 */
@JCStressTest
@State
@Outcome(
        id = "over, not asked, running, not asked, 1 in flight",
        expect = ACCEPTABLE,
        desc = "The new request of the tenant is counted.")
@Outcome(
        expect = FORBIDDEN,
        desc = "The pool counts permits for a forgotten tenant, or none for a tenant that holds some.")
public class ForgetAgainstAcquire {

    private final PoolOfRequests pool = PoolOfRequests.nearlyCalm(2, 2);

    public ForgetAgainstAcquire() {
        pool.acquire(0);
    }

    @Actor
    public void forget() {
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
