package io.fairgate.proofs;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/** Request 2 takes a permit of the fast path, starts on its own executor, and is cancelled as soon as the pool knows it. */
@JCStressTest
@State
@Outcome(
        id = "not asked, not asked, over, not asked, 0 in flight",
        expect = ACCEPTABLE,
        desc = "The request is over, and its permit is free.")
@Outcome(expect = FORBIDDEN, desc = "A permit was lost or granted twice, or a request was forgotten.")
public class StartAgainstCancel {

    private final PoolOfRequests pool = PoolOfRequests.open(1, 1);

    @Actor
    public void start() {
        pool.acquire(2);
    }

    @Actor
    public void cancel() {
        pool.cancelOnceKnown(2);
    }

    @Arbiter
    public void outcome(L_Result result) {
        result.r1 = pool.outcome();
    }
}
