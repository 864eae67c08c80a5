package io.fairgate.proofs;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/** A tenant that nobody has configured gives its last permit back, and so is forgotten, while it comes again. Somebody had to wait before, so the scheduler knows of each step. */
@JCStressTest
@State
@Outcome(
        id = "over, not asked, running, not asked, 1 in flight",
        expect = ACCEPTABLE,
        desc = "The tenant that came again is counted.")
@Outcome(
        expect = FORBIDDEN,
        desc = "The pool counts permits for a tenant that it has forgotten, or none for one that holds some.")
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
