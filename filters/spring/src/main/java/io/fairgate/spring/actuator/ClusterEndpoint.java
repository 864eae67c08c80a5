package io.fairgate.spring.actuator;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.fairgate.permit.PermitPool;
import io.fairgate.spring.fairshare.PermitPools;
import io.fairgate.status.SliceStatus;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;

/**
 * {@code /actuator/cluster}: this gateway's part of each pool that several gateways share. Empty when its pools are its own.
 */
@Endpoint(id = "cluster")
public record ClusterEndpoint(PermitPools byName) {

    /**
     * This gateway's part of a pool: a {@link SliceStatus}.
     *
     * @param policyPermits the permits of the pool in the policy of this gateway; other than {@code poolPermits} while the policies of
     *     the gateways differ
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Slice(
            int permits,
            int target,
            int poolPermits,
            int policyPermits,
            int gateways,
            long epoch,
            boolean recovering,
            boolean inForce,
            boolean outage,
            double sinceAnswerSeconds,
            double roundTripSeconds,
            @Nullable String failure) {

        static Slice of(SliceStatus slice, int policyPermits) {
            return new Slice(
                    slice.permits(),
                    slice.target(),
                    slice.poolPermits(),
                    policyPermits,
                    slice.nodes(),
                    slice.epoch(),
                    slice.isRecovering(),
                    slice.isInForce(),
                    slice.isOutage(),
                    slice.sinceAnswer().toNanos() / 1e9,
                    slice.roundTrip().toNanos() / 1e9,
                    slice.failure());
        }
    }

    /** By the name of the pool. */
    @ReadOperation
    public Map<String, Slice> slices() {
        Map<String, Slice> slices = new TreeMap<>();
        for (PermitPool pool : byName.all()) {
            SliceStatus slice = pool.slice();
            if (slice != null) {
                slices.put(pool.name(), Slice.of(slice, pool.settings().permits()));
            }
        }
        return slices;
    }
}
