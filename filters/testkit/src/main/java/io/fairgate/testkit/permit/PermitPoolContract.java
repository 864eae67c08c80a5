package io.fairgate.testkit.permit;

import org.junit.jupiter.api.Nested;

/**
 * The contract of permit pools, which every backend must pass. All tests use virtual time, and each ends with nothing in
 * flight, nothing waiting and no timer left. A backend that can be out of reach also passes {@link LostPoolContract}.
 */
public abstract class PermitPoolContract implements PoolBackend {

    @Nested
    class Granting extends GrantingContract {
        Granting() {
            super(PermitPoolContract.this);
        }
    }

    @Nested
    class Cancellation extends CancellationContract {
        Cancellation() {
            super(PermitPoolContract.this);
        }
    }

    @Nested
    class BrokenWorks extends BrokenWorksContract {
        BrokenWorks() {
            super(PermitPoolContract.this);
        }
    }

    @Nested
    class Quiescing extends QuiescingContract {
        Quiescing() {
            super(PermitPoolContract.this);
        }
    }

    @Nested
    class EventLoops extends EventLoopContract {
        EventLoops() {
            super(PermitPoolContract.this);
        }
    }

    @Nested
    class Refusals extends RefusalContract {
        Refusals() {
            super(PermitPoolContract.this);
        }
    }

    @Nested
    class Times extends TimesContract {
        Times() {
            super(PermitPoolContract.this);
        }
    }

    @Nested
    class Handles extends HandleContract {
        Handles() {
            super(PermitPoolContract.this);
        }
    }

    @Nested
    class WithoutWaiting extends WithoutWaitingContract {
        WithoutWaiting() {
            super(PermitPoolContract.this);
        }
    }

    @Nested
    class Restoring extends RestoreContract {
        Restoring() {
            super(PermitPoolContract.this);
        }
    }

    @Nested
    class Closing extends ClosingContract {
        Closing() {
            super(PermitPoolContract.this);
        }
    }

    @Nested
    class Observation extends ObservationContract {
        Observation() {
            super(PermitPoolContract.this);
        }
    }

    @Nested
    class Settings extends SettingsContract {
        Settings() {
            super(PermitPoolContract.this);
        }
    }
}
