package io.fairgate.gateway.lease;

import io.fairgate.lease.embedded.Leases;
import org.springframework.context.ApplicationContext;

/** The leases of a gateway in this process. */
public final class GatewayLeases {

    private GatewayLeases() {}

    public static Leases of(ApplicationContext gateway) {
        return gateway.getBean(LeaseDesk.class).leases();
    }

    /** Begins their shutdown, but leaves the port open for calls of the test. */
    public static void beginToEnd(ApplicationContext gateway) {
        gateway.getBean(LeaseDesk.class).beginToEnd();
    }
}
