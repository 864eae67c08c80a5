package io.fairgate.proofs;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.fairgate.permit.HeldPermits;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/** Two threads release the same handle, while two requests wait for its permit. */
@JCStressTest
@State
@Outcome(
        id = "running, not asked, waiting, not asked, 1 in flight",
        expect = ACCEPTABLE,
        desc = "One permit was released, and one request has it.")
@Outcome(expect = FORBIDDEN, desc = "A permit was lost or granted twice, or a request was forgotten.")
public class DoubleRelease {

    private final HeldPermits handle;
    private final PoolOfRequests pool = PoolOfRequests.open(1, 1);

    public DoubleRelease() {
        handle = pool.held();
        pool.acquire(0);
        pool.acquire(2);
    }

    @Actor
    public void one() {
        handle.release();
    }

    @Actor
    public void other() {
        handle.release();
    }

    @Arbiter
    public void outcome(L_Result result) {
        result.r1 = pool.outcome();
    }
}
