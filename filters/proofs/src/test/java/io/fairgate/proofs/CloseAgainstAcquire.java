package io.fairgate.proofs;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/** The pool closes while a request comes. */
@JCStressTest
@State
@Outcome(
        id = "running, not asked, not asked, not asked, 1 in flight",
        expect = ACCEPTABLE,
        desc = "It came first, and closing waits for it.")
@Outcome(
        id = "draining, not asked, not asked, not asked, closed, 0 in flight",
        expect = ACCEPTABLE,
        desc = "It came too late, and was told so.")
@Outcome(expect = FORBIDDEN, desc = "The pool closed over a request in flight, or never will.")
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
