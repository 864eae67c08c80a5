package io.fairgate.gateway.lease;

import org.springframework.context.ApplicationContext;

/** Begins the end of a gateway's leases and leaves its port open, for as long as a test wants to call. */
public final class EndOfLeases {

    private EndOfLeases() {}

    public static void begin(ApplicationContext gateway) {
        gateway.getBean(LeaseDesk.class).beginToEnd();
    }
}
