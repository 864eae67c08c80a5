package io.fairgate.fairness.model;

import io.fairgate.fairness.TestRequest;
import io.fairgate.shares.TenantShares;
import java.util.List;

/** Observes the random steps of a pool. */
interface PoolWatch {

    /** These nanoseconds pass before the next event. */
    default void passed(long nanos) {}

    default void arrived(TestRequest request) {}

    default void cancelled(TestRequest request) {}

    default void released(TestRequest request) {}

    default void resized(int permits) {}

    default void reconfigured(TenantShares shares) {}

    /** One request was granted; it is already in flight in the ledger. */
    default void granted(TestRequest request) {}

    /** These requests were granted, in this order. */
    default void handedOut(List<TestRequest> granted) {}

    /** The step is over. */
    default void stepped() {}
}
