package io.fairgate.spring.whatif;

import java.util.List;
import java.util.Map;

/**
 * What another policy would do.
 *
 * @param pools those whose requests were replayed
 * @param notReplayed why others were not, one sentence each
 */
public record Prediction(List<PoolPrediction> pools, List<String> notReplayed) {

    /**
     * One pool.
     *
     * @param seconds of how many seconds the requests were replayed
     * @param requests how many there were
     * @param permits the size of the pool now
     * @param candidatePermits its size under the other policy
     * @param tenants those that used most, the first one most; at most {@value Predictions#TENANTS}
     * @param otherTenants how many are not shown
     */
    public record PoolPrediction(
            String pool,
            double seconds,
            long requests,
            int permits,
            int candidatePermits,
            List<TenantPrediction> tenants,
            int otherTenants) {}

    /**
     * One tenant.
     *
     * @param followsAnswers whether its clients send the next request when they have the answer to the one before
     * @param recorded what it got
     * @param replayed what it gets in a replay under the policy in force: how far the replay can be believed
     * @param candidate what it gets in a replay under the other policy
     */
    public record TenantPrediction(String tenant, boolean followsAnswers, Use recorded, Use replayed, Use candidate) {}

    /**
     * What a tenant got of a pool.
     *
     * @param left requests whose clients left while they waited
     * @param refused by reason
     * @param part its permit-time as a part of that of all tenants
     */
    public record Use(
            long requests,
            long granted,
            long left,
            Map<String, Long> refused,
            double permitSeconds,
            double part,
            double waitP50Seconds,
            double waitP99Seconds) {}
}
