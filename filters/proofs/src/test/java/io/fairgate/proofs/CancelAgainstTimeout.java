package io.fairgate.proofs;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/** Request 1 is cancelled while its wait times out; request 2 waits behind it. */
@JCStressTest
@State
@Outcome(
        id = "running, over, waiting, not asked, 1 in flight",
        expect = ACCEPTABLE,
        desc = "The cancellation came first: the request gets no signal.")
@Outcome(
        id = "running, max-wait, waiting, not asked, 1 in flight",
        expect = ACCEPTABLE,
        desc = "The timer came first: the request gets the refusal.")
@Outcome(expect = FORBIDDEN, desc = "The request was counted twice, or not at all.")
public class CancelAgainstTimeout {

    private final PoolOfRequests pool = PoolOfRequests.heard(1);

    public CancelAgainstTimeout() {
        pool.acquire(0);
        pool.acquire(1);
        pool.acquire(2);
    }

    @Actor
    public void cancel() {
        pool.cancel(1);
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
