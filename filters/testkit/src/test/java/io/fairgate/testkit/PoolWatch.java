package io.fairgate.testkit;

import io.fairgate.shares.TenantShares;
import java.util.List;

/** Observes the random steps of a pool. */
interface PoolWatch {

    /** These nanoseconds pass before the next event. */
    default void passed(long nanos) {}

    default void arrived(TestClaim claim) {}

    default void cancelled(TestClaim claim) {}

    default void released(TestClaim claim) {}

    default void resized(int permits) {}

    default void reconfigured(TenantShares shares) {}

    /** One claim was granted; it is already in flight in the ledger. */
    default void granted(TestClaim claim) {}

    /** These claims were granted, in this order. */
    default void handedOut(List<TestClaim> granted) {}

    /** The step is over. */
    default void stepped() {}
}
