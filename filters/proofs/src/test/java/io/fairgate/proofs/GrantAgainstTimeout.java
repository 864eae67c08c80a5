package io.fairgate.proofs;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/** The permit of request 0 goes to request 1 while the wait of request 1 times out; request 2 waits behind it. */
@JCStressTest
@State
@Outcome(
        id = "over, running, waiting, not asked, 1 in flight",
        expect = ACCEPTABLE,
        desc = "The grant came first: the timer does nothing.")
@Outcome(
        id = "over, max-wait, running, not asked, 1 in flight",
        expect = ACCEPTABLE,
        desc = "The timer came first: the next request gets the permit.")
@Outcome(expect = FORBIDDEN, desc = "A permit was lost or granted twice, or a request was forgotten.")
public class GrantAgainstTimeout {

    private final PoolOfRequests pool = PoolOfRequests.open(1, 1);

    public GrantAgainstTimeout() {
        pool.acquire(0);
        pool.acquire(1);
        pool.acquire(2);
    }

    @Actor
    public void grant() {
        pool.release(0);
    }

    @Actor
    public void timeOut() {
        pool.timeOut(1);
    }

    @Arbiter
    public void outcome(L_Result result) {
        result.r1 = pool.outcome();
    }
}
