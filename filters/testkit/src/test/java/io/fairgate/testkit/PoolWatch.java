package io.fairgate.testkit;

import io.fairgate.fairness.TenantShares;
import java.util.List;

/** Looks on while random steps happen to a pool. */
interface PoolWatch {

    /** So many nanoseconds pass, before what comes next. */
    default void passed(long nanos) {}

    default void arrived(TestClaim claim) {}

    default void cancelled(TestClaim claim) {}

    default void released(TestClaim claim) {}

    default void resized(int permits) {}

    default void reconfigured(TenantShares shares) {}

    /** One claim was granted; the ledger has it as in flight. */
    default void granted(TestClaim claim) {}

    /** Permits were handed out: these, in this order. */
    default void handedOut(List<TestClaim> granted) {}

    /** The step is over. */
    default void stepped() {}
}
