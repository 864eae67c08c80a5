package io.fairgate.testkit.lease;

import io.fairgate.lease.LeasedPools;
import io.fairgate.lease.Leases;
import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PoolSettings;
import io.fairgate.testkit.TestTime;
import org.junit.jupiter.api.Nested;
import reactor.core.scheduler.Scheduler;

/**
 * The contract of leases, topic by topic, which every backend must pass. All tests use virtual time, and each ends with
 * nothing in flight, nothing waiting and no timer left. They say what holds after an answer, not at the same instant, so a
 * backend may answer later than it acts.
 */
public abstract class LeasesContract {

    /** Makes a pool of this backend, with this clock for its timers. */
    protected abstract PermitPool newPool(String name, PoolSettings settings, Scheduler time);

    /** Makes the leases under test, with this clock for their timers. */
    protected abstract Leases newLeases(LeasedPools pools, Scheduler time);

    /** Lets the backend act on the calls so far, and answer those that it can answer now. */
    protected void runDue(TestTime time) {
        time.runDue();
    }

    @Nested
    class Acquiring extends LeaseAcquireContract {
        Acquiring() {
            super(LeasesContract.this);
        }
    }

    @Nested
    class Paying extends LeasePaymentContract {
        Paying() {
            super(LeasesContract.this);
        }
    }

    @Nested
    class OfSeveralPools extends LeaseOfSeveralPoolsContract {
        OfSeveralPools() {
            super(LeasesContract.this);
        }
    }

    @Nested
    class Waiting extends LeaseQueueContract {
        Waiting() {
            super(LeasesContract.this);
        }
    }

    @Nested
    class Extending extends LeaseExtendContract {
        Extending() {
            super(LeasesContract.this);
        }
    }

    @Nested
    class Releasing extends LeaseReleaseContract {
        Releasing() {
            super(LeasesContract.this);
        }
    }

    @Nested
    class Expiring extends LeaseExpiryContract {
        Expiring() {
            super(LeasesContract.this);
        }
    }

    @Nested
    class Ended extends LeaseEndContract {
        Ended() {
            super(LeasesContract.this);
        }
    }

    @Nested
    class Draining extends LeaseDrainContract {
        Draining() {
            super(LeasesContract.this);
        }
    }

    @Nested
    class Restoring extends LeaseRestoreContract {
        Restoring() {
            super(LeasesContract.this);
        }
    }

    @Nested
    class OfClosingPools extends LeaseClosingContract {
        OfClosingPools() {
            super(LeasesContract.this);
        }
    }

    @Nested
    class Counting extends LeaseCountContract {
        Counting() {
            super(LeasesContract.this);
        }
    }
}
