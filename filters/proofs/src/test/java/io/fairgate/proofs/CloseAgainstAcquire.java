package io.fairgate.proofs;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/** The pool closes while a request arrives. */
@JCStressTest
@State
@Outcome(
        id = "running, not asked, not asked, not asked, 1 in flight",
        expect = ACCEPTABLE,
        desc = "The request came first: the pool waits for its end.")
@Outcome(
        id = "draining, not asked, not asked, not asked, closed, 0 in flight",
        expect = ACCEPTABLE,
        desc = "The close came first: the request is refused.")
@Outcome(expect = FORBIDDEN, desc = "The pool closed while a request was in flight, or never closes.")
public class CloseAgainstAcquire {

    private final PoolOfRequests pool = PoolOfRequests.open(1, 1);

    @Actor
    public void close() {
        pool.close();
    }

    @Actor
    public void acquire() {
        pool.acquire(0);
    }

    @Arbiter
    public void outcome(L_Result result) {
        result.r1 = pool.outcome();
    }
}
