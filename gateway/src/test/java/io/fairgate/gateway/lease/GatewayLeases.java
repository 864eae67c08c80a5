package io.fairgate.gateway.lease;

import io.fairgate.lease.Leases;
import org.springframework.context.ApplicationContext;

/** The leases of a gateway in this process. */
public final class GatewayLeases {

    private GatewayLeases() {}

    public static Leases of(ApplicationContext gateway) {
        return gateway.getBean(LeaseDesk.class).leases();
    }

    /** Begins their end and leaves the port open, for as long as a test wants to call. */
    public static void beginToEnd(ApplicationContext gateway) {
        gateway.getBean(LeaseDesk.class).beginToEnd();
    }
}
