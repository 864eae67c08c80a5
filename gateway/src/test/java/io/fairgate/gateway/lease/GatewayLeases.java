package io.fairgate.gateway.lease;

import io.fairgate.lease.Leases;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.springframework.context.ApplicationContext;

/** The leases of a gateway in this process. */
public final class GatewayLeases {

    private GatewayLeases() {}

    public static Leases of(ApplicationContext gateway) {
        return gateway.getBean(LeaseRegister.class).leases();
    }

    /** Every route of the API as {@code METHOD /path}. */
    public static Set<String> routes(ApplicationContext gateway) {
        return gateway.getBean(LeaseRoutes.class).get().stream()
                .map(route -> route.method() + " " + route.template())
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** Begins their shutdown, but leaves the port open for calls of the test. */
    public static void beginToEnd(ApplicationContext gateway) {
        gateway.getBean(LeaseRegister.class).beginToEnd();
    }
}
