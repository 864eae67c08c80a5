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
 * The cancelled work of request 0 takes a moment to end. It ends while the time limit for that is reached. Request 1 waits
 * behind it.
 */
@JCStressTest
@State
@Outcome(
        id = "over, running, not asked, not asked, 1 in flight",
        expect = ACCEPTABLE,
        desc = "In both orders there is one release.")
@Outcome(expect = FORBIDDEN, desc = "The permit was released twice, or not at all.")
public class QuiescedAgainstTimeUp {

    private final PoolOfRequests pool = PoolOfRequests.heard(1);

    public QuiescedAgainstTimeUp() {
        pool.acquireToQuiesce();
        pool.acquire(1);
        pool.cancel(0);
    }

    @Actor
    public void quiesce() {
        pool.quiesce();
    }

    @Actor
    public void timeUp() {
        pool.quiesceTimeUp();
    }

    @Arbiter
    public void outcome(L_Result result) {
        result.r1 = pool.outcome();
    }
}
