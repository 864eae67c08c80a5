package io.fairgate.testkit.quota;

import org.junit.jupiter.api.Nested;

/**
 * The contract of quotas, which every backend must pass. All tests use virtual time. A backend that can be out of reach also
 * passes {@link LostQuotasContract}.
 */
public abstract class QuotasContract implements QuotasBackend {

    @Nested
    class Checks extends CheckContract {
        Checks() {
            super(QuotasContract.this);
        }
    }

    @Nested
    class Charges extends ChargeContract {
        Charges() {
            super(QuotasContract.this);
        }
    }

    @Nested
    class DryRuns extends DryRunContract {
        DryRuns() {
            super(QuotasContract.this);
        }
    }

    @Nested
    class Settlements extends SettlementContract {
        Settlements() {
            super(QuotasContract.this);
        }
    }

    @Nested
    class CancelledCharges extends CancelledChargeContract {
        CancelledCharges() {
            super(QuotasContract.this);
        }
    }

    @Nested
    class ConcurrentCharges extends ConcurrentChargesContract {
        ConcurrentCharges() {
            super(QuotasContract.this);
        }
    }

    @Nested
    class RemovedOwners extends RemovedOwnersContract {
        RemovedOwners() {
            super(QuotasContract.this);
        }
    }
}
