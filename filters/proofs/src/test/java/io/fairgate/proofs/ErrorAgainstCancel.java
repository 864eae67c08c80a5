package io.fairgate.proofs;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/** The work of request 0 fails while it is cancelled; request 1 waits behind it. */
@JCStressTest
@State
@Outcome(
        id = "failed, running, not asked, not asked, 1 in flight",
        expect = ACCEPTABLE,
        desc = "The error came first: one release.")
@Outcome(
        id = "over, running, not asked, not asked, 1 in flight",
        expect = ACCEPTABLE,
        desc = "The cancellation came first: one release.")
@Outcome(expect = FORBIDDEN, desc = "The permit was released twice, or not at all.")
public class ErrorAgainstCancel {

    private final PoolOfRequests pool = PoolOfRequests.heard(1);

    public ErrorAgainstCancel() {
        pool.acquire(0);
        pool.acquire(1);
    }

    @Actor
    public void fail() {
        pool.fail(0);
    }

    @Actor
    public void cancel() {
        pool.cancel(0);
    }

    @Arbiter
    public void outcome(L_Result result) {
        result.r1 = pool.outcome();
    }
}
