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

/** One thread releases a handle of the fast path twice, while another thread takes the permit. */
@JCStressTest
@State
@Outcome(
        id = "running, not asked, waiting, not asked, 1 in flight",
        expect = ACCEPTABLE,
        desc = "One permit was released, and one request has it.")
@Outcome(expect = FORBIDDEN, desc = "A permit was lost or granted twice, or a request was forgotten.")
public class DoubleReleaseOfOpenPermit {

    private final HeldPermits handle;
    private final PoolOfRequests pool = PoolOfRequests.open(1, 1);

    public DoubleReleaseOfOpenPermit() {
        handle = pool.held();
    }

    @Actor
    public void release() {
        handle.release();
        handle.release();
    }

    @Actor
    public void acquire() {
        pool.acquire(0);
        pool.acquire(2);
    }

    @Arbiter
    public void outcome(L_Result result) {
        result.r1 = pool.outcome();
    }
}
