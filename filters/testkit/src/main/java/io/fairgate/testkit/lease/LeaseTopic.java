package io.fairgate.testkit.lease;

import io.fairgate.lease.Leases;
import io.fairgate.testkit.NothingLeft;
import org.junit.jupiter.api.extension.RegisterExtension;

/** One topic of the contract. */
abstract class LeaseTopic {

    @RegisterExtension
    final NothingLeft nothingLeft = new NothingLeft();

    final LeaseScene scene;
    final Leases leases;

    LeaseTopic(LeasesContract backend) {
        scene = new LeaseScene(backend, nothingLeft);
        leases = scene.leases;
    }
}
