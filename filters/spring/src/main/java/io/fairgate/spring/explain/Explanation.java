package io.fairgate.spring.explain;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a pool was like while a request waited, or in the second in which it was refused at once.
 *
 * @param pool the name of the pool
 * @param seconds the part of the wait of which that is known; a second for a request that did not wait
 * @param permits the size of the pool at the end
 * @param inFlight permits that were held at the end: the most of the states around it, up to a second apart
 * @param waiting requests that waited at the end, in the same way
 * @param tenant the tenant of the request, the last time that it held permits or waited; null when it did not, or was not among those
 *     that held most or waited longest
 * @param holders the tenants that held most permit-time meanwhile, the first one most
 */
public record Explanation(
        String pool,
        double seconds,
        int permits,
        int inFlight,
        int waiting,
        @Nullable Standing tenant,
        List<Holder> holders) {

    /**
     * A tenant in the pool.
     *
     * @param share permits that it was entitled to
     * @param lagPermitSeconds permit-time by which it was behind (positive) or ahead
     */
    public record Standing(int inFlight, int waiting, double share, double lagPermitSeconds) {}

    /**
     * A tenant that held permits.
     *
     * @param tenant its id, or {@code _other} for all that have no meters of their own
     * @param permitSeconds the permit-time that it held
     * @param part that as a part of what all tenants held
     */
    public record Holder(String tenant, double permitSeconds, double part) {}
}
