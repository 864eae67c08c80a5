package io.fairgate.proofs;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/** A request for a handle is cancelled while the handle is handed over to it; request 2 waits behind it. */
@JCStressTest
@State
@Outcome(
        id = "over, not asked, running, not asked, 1 in flight",
        expect = ACCEPTABLE,
        desc = "The cancellation came first: the next request has the permit.")
@Outcome(
        id = "handle, over, not asked, waiting, not asked, 1 in flight",
        expect = ACCEPTABLE,
        desc = "The handle was handed over first: its holder must release it.")
@Outcome(expect = FORBIDDEN, desc = "A permit was lost or granted twice, or a request was forgotten.")
public class HandOverAgainstCancel {

    private final PoolOfRequests pool = PoolOfRequests.open(1, 1);

    public HandOverAgainstCancel() {
        pool.acquire(0);
        pool.acquireHandle();
        pool.acquire(2);
    }

    @Actor
    public void grant() {
        pool.release(0);
    }

    @Actor
    public void cancel() {
        pool.cancelHandle();
    }

    @Arbiter
    public void outcome(L_Result result) {
        result.r1 = pool.outcome();
    }
}
