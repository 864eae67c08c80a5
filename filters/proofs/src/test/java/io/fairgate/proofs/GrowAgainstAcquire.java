package io.fairgate.proofs;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/** The pool gets a second permit while a request arrives that would have to wait. */
@JCStressTest
@State
@Outcome(
        id = "running, not asked, running, not asked, 2 in flight",
        expect = ACCEPTABLE,
        desc = "Both requests have a permit.")
@Outcome(expect = FORBIDDEN, desc = "A permit was lost or granted twice, or a request was forgotten.")
public class GrowAgainstAcquire {

    private final PoolOfRequests pool = PoolOfRequests.open(1, 2);

    public GrowAgainstAcquire() {
        pool.acquire(0);
    }

    @Actor
    public void grow() {
        pool.resize(2);
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
