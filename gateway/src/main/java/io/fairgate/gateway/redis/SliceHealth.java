package io.fairgate.gateway.redis;

import io.fairgate.permit.PermitPool;
import io.fairgate.spring.fairshare.PermitPools;
import io.fairgate.status.SliceStatus;
import io.fairgate.time.DurationText;
import java.time.Duration;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;

/**
 * Whether this gateway has its part of each pool. Down while Redis does not answer, also when an outage policy grants permits. Readiness does
 * not depend on it unless an operator adds it: when Redis is lost, it is mostly lost for all gateways.
 */
final class SliceHealth implements HealthIndicator {

    /** More than it takes from one heartbeat to the next. */
    private static final Duration SOON = Duration.ofSeconds(1);

    private final PermitPools pools;

    SliceHealth(PermitPools pools) {
        this.pools = pools;
    }

    @Override
    public Health health() {
        Health.Builder health = Health.up();
        for (PermitPool pool : pools.all()) {
            SliceStatus slice = pool.slice();
            if (slice != null) {
                health.withDetail(pool.name(), text(slice, pool.settings().permits()));
                if (!slice.isInForce() || slice.isOutage()) {
                    health.down();
                }
            }
        }
        return health.build();
    }

    private static String redis(SliceStatus slice) {
        boolean isAnswered = slice.epoch() > 0
                && slice.failure() == null
                && slice.sinceAnswer().compareTo(SOON) < 0;
        return isAnswered
                ? "Redis answers again, but has no permits for this gateway yet"
                : "no answer of Redis for "
                        + DurationText.of(Duration.ofSeconds(slice.sinceAnswer().toSeconds()));
    }

    private static String text(SliceStatus slice, int all) {
        if (!slice.isInForce() || slice.isOutage()) {
            return "%s: %s%s"
                    .formatted(
                            redis(slice),
                            slice.isOutage()
                                    ? "this gateway goes on with %d of %d permits".formatted(slice.permits(), all)
                                    : "requests are refused (backend-lost)",
                            slice.failure() == null ? "" : "; " + slice.failure());
        }
        return "%d of %d permits, target %d, shared by %d gateways%s%s"
                .formatted(
                        slice.permits(),
                        slice.poolPermits(),
                        slice.target(),
                        slice.nodes(),
                        slice.poolPermits() == all ? "" : " (here the policy has %d permits)".formatted(all),
                        slice.isRecovering() ? ", Redis is recovering" : "");
    }
}
