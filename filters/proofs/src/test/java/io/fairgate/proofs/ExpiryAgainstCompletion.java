package io.fairgate.proofs;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/** The hold of request 0 expires while its work completes; request 1 waits behind it. */
@JCStressTest
@State
@Outcome(
        id = "expired, running, not asked, not asked, 1 in flight",
        expect = ACCEPTABLE,
        desc = "The hold expired first: one release.")
@Outcome(
        id = "over, running, not asked, not asked, 1 in flight",
        expect = ACCEPTABLE,
        desc = "The work completed first: one release.")
@Outcome(expect = FORBIDDEN, desc = "The permit was released twice, or not at all.")
public class ExpiryAgainstCompletion {

    private final PoolOfRequests pool = PoolOfRequests.timed(1);

    public ExpiryAgainstCompletion() {
        pool.acquire(0);
        pool.acquire(1);
    }

    @Actor
    public void expire() {
        pool.expire();
    }

    @Actor
    public void complete() {
        pool.release(0);
    }

    @Arbiter
    public void outcome(L_Result result) {
        result.r1 = pool.outcome();
    }
}
