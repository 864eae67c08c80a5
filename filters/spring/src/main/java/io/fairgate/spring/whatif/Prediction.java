package io.fairgate.spring.whatif;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What another policy would do.
 *
 * @param pools those whose requests were replayed
 * @param notReplayed why others were not, one sentence each
 * @param notes what the candidate changes and a replay does not know, one sentence each
 */
public record Prediction(List<PoolPrediction> pools, List<String> notReplayed, List<String> notes) {

    /**
     * One pool.
     *
     * @param seconds of how many seconds the requests were replayed
     * @param requests how many there were
     * @param permits the size of the pool now
     * @param candidatePermits its size under the other policy
     * @param notes why the prediction may be wrong, one sentence each
     * @param tenants those that used most, the first one most, and those whose waits grow most; at most {@value Predictions#TENANTS}
     * @param otherTenants how many are not shown
     */
    public record PoolPrediction(
            String pool,
            double seconds,
            long requests,
            int permits,
            int candidatePermits,
            List<String> notes,
            List<TenantPrediction> tenants,
            int otherTenants) {}

    /**
     * One tenant.
     *
     * @param clients {@code wait-for-answers}, {@code come-anyway} or {@code unclear}
     * @param recorded what it got
     * @param replayed what it gets in a replay under the policy in force: how far the replay can be believed
     * @param candidate what it gets in a replay under the other policy
     * @param otherwise the same if all unclear clients do the other thing; null when no clients of the pool are unclear
     */
    public record TenantPrediction(
            String tenant,
            String clients,
            Use recorded,
            Use replayed,
            Use candidate,
            @Nullable Use otherwise) {}

    /**
     * What a tenant got of a pool.
     *
     * @param waiting requests that still wait at the end, which are not among the {@code requests}
     * @param left requests whose clients left while they waited
     * @param refused by reason
     * @param permits how many it held on average
     * @param part its permit-time as a part of that of all tenants
     */
    public record Use(
            long requests,
            long granted,
            long left,
            long waiting,
            Map<String, Long> refused,
            double permits,
            double permitSeconds,
            double part,
            double waitP50Seconds,
            double waitP99Seconds) {}
}
