package io.fairgate.proofs;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/** The permit of request 0 goes to request 1 while request 1 is cancelled; request 2 waits behind it. */
@JCStressTest
@State
@Outcome(
        id = "over, over, running, not asked, 1 in flight",
        expect = ACCEPTABLE,
        desc = "In both orders the cancelled request has nothing, and the next request has the permit.")
@Outcome(expect = FORBIDDEN, desc = "A permit was lost or granted twice, or a request was forgotten.")
public class GrantAgainstCancel {

    private final PoolOfRequests pool = PoolOfRequests.open(1, 1);

    public GrantAgainstCancel() {
        pool.acquire(0);
        pool.acquire(1);
        pool.acquire(2);
    }

    @Actor
    public void grant() {
        pool.release(0);
    }

    @Actor
    public void cancel() {
        pool.cancel(1);
    }

    @Arbiter
    public void outcome(L_Result result) {
        result.r1 = pool.outcome();
    }
}
