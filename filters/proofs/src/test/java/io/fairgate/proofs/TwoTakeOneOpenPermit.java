package io.fairgate.proofs;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/** Two requests arrive for the only permit of the fast path. */
@JCStressTest
@State
@Outcome(
        id = "running, not asked, waiting, not asked, 1 in flight",
        expect = ACCEPTABLE,
        desc = "The first has the permit, the second waits.")
@Outcome(
        id = "waiting, not asked, running, not asked, 1 in flight",
        expect = ACCEPTABLE,
        desc = "The second has the permit, the first waits.")
@Outcome(expect = FORBIDDEN, desc = "A permit was lost or granted twice, or a request was forgotten.")
public class TwoTakeOneOpenPermit {

    private final PoolOfRequests pool = PoolOfRequests.open(1, 1);

    @Actor
    public void one() {
        pool.acquire(0);
    }

    @Actor
    public void other() {
        pool.acquire(2);
    }

    @Arbiter
    public void outcome(L_Result result) {
        result.r1 = pool.outcome();
    }
}
