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
 * The work of request 0 is cancelled, and takes a moment to end: it has ended while the time that it has for that is up.
 * Request 1 waits behind it.
 */
@JCStressTest
@State
@Outcome(
        id = "over, running, not asked, not asked, 1 in flight",
        expect = ACCEPTABLE,
        desc = "Whoever came first, there is one release.")
@Outcome(expect = FORBIDDEN, desc = "The permit came back twice, or not at all.")
public class SettledAgainstTimeUp {

    private final PoolOfRequests pool = PoolOfRequests.heard(1);

    public SettledAgainstTimeUp() {
        pool.acquireToSettle();
        pool.acquire(1);
        pool.cancel(0);
    }

    @Actor
    public void settle() {
        pool.settle();
    }

    @Actor
    public void timeUp() {
        pool.settleTimeUp();
    }

    @Arbiter
    public void outcome(L_Result result) {
        result.r1 = pool.outcome();
    }
}
