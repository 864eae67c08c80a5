package io.fairgate.benchmarks.http;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Fills the full pool of a gateway with the policy {@link MembersPolicy}: the only permit is held, and each active tenant
 * has one waiting request. Also uses up the quota that each of them has on one route. After that, every request to both is
 * refused.
 */
public final class RefusedTraffic implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final int traffic;
    private final int management;
    private final List<HeldRequest> held = new ArrayList<>();

    /**
     * Sends the requests.
     *
     * @param traffic the port for requests to routes
     * @param management the port on which the gateway reports its pools
     */
    public RefusedTraffic(int traffic, int management) throws IOException {
        this.traffic = traffic;
        this.management = management;
        hold(MembersPolicy.active(0), 0);
        for (int i = 0; i < MembersPolicy.ACTIVE; i++) {
            hold(MembersPolicy.active(i), i + 1);
        }
        try (Connection connection = new Connection(traffic)) {
            for (int i = 0; i < MembersPolicy.ACTIVE; i++) {
                connection.send("GET /spent/x HTTP/1.1\r\n" + MembersPolicy.tenantField(i), "");
            }
        }
    }

    /** Sends a request, and waits until the gateway reports this many waiting requests. */
    private void hold(String tenant, int waiting) throws IOException {
        held.add(new HeldRequest(traffic, "/full/x", tenant));
        String expected = "\"full\":{\"permits\":1,\"inFlight\":1,\"waiting\":" + waiting + ",";
        long end = System.nanoTime() + PATIENCE.toNanos();
        try (Connection connection = new Connection(management)) {
            String seen;
            do {
                if (System.nanoTime() - end > 0) {
                    throw new IllegalStateException("not seen within %s: %s".formatted(PATIENCE, expected));
                }
                seen = connection.send("GET /actuator/pools HTTP/1.1\r\n", "").body();
            } while (!seen.contains(expected));
        }
    }

    @Override
    public void close() {
        held.forEach(HeldRequest::close);
    }
}
