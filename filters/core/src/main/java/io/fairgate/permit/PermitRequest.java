package io.fairgate.permit;

import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * What somebody asks of a pool.
 *
 * @param permits how many at once, at least 1
 * @param maxWait how long to wait at most; as long as the pool lets others wait if null
 * @param maxHold how long the work may take, from the grant on; the pool's own maximum if null
 * @param home where the work is subscribed, where refusals are emitted, and where a work is cancelled that holds for too
 *     long: the request's event loop. It must run what it is given later or at once, one after the other, and nothing that
 *     is run there may block: at once means on a thread that may be at work for others as well. When it has timers, as
 *     Netty's event loops have ({@link java.util.concurrent.ScheduledExecutorService}), one bounds the settling of a work
 *     that is cut short. Null for {@link reactor.core.scheduler.Schedulers#parallel()}, or the scheduler that the pool was
 *     given, and for the subscribing thread when the request need not wait
 * @param settled what is waited for before the permits of a work that was cancelled or failed come back; null when the work
 *     has then ended at once. The signals to the subscriber do not wait for it
 * @param settleWithin how long that is waited for at most, from the cancellation or the failure on; {@link #SETTLE_WITHIN} if
 *     null
 * @param onWaiting called once, on the subscribing thread, when the request has to wait; must not block or throw
 * @param requestClass the class of the request within its tenant; null, or one that the pool's shares do not know, for none
 */
public record PermitRequest(
        TenantId tenant,
        int permits,
        @Nullable Duration maxWait,
        @Nullable Duration maxHold,
        @Nullable Executor home,
        @Nullable Mono<Void> settled,
        @Nullable Duration settleWithin,
        @Nullable Runnable onWaiting,
        @Nullable String requestClass) {

    /** How long a work may take to settle before its permits come back all the same, unless the request says otherwise. */
    public static final Duration SETTLE_WITHIN = Duration.ofSeconds(1);

    /** @throws IllegalArgumentException naming the setting, what was found and what was expected */
    public PermitRequest {
        Objects.requireNonNull(tenant, "tenant");
        if (permits < 1 || permits > PoolSettings.MAX_PERMITS) {
            throw new IllegalArgumentException(
                    "permits: %d (expected: 1 to %d)".formatted(permits, PoolSettings.MAX_PERMITS));
        }
        if (maxWait != null) {
            PoolSettings.requirePositive("max-wait", maxWait);
        }
        if (maxHold != null) {
            PoolSettings.requirePositive("max-hold", maxHold);
        }
        if (settleWithin != null) {
            PoolSettings.requirePositive("settle-within", settleWithin);
        }
    }

    /** One permit for the tenant, and all else as the pool has it. */
    public static PermitRequest of(TenantId tenant) {
        return new PermitRequest(tenant, 1, null, null, null, null, null, null, null);
    }

    /** One permit for the tenant, and all else as the pool has it. */
    public static PermitRequest of(String tenant) {
        return of(TenantId.of(tenant));
    }

    public PermitRequest withPermits(int permits) {
        return new PermitRequest(
                tenant, permits, maxWait, maxHold, home, settled, settleWithin, onWaiting, requestClass);
    }

    public PermitRequest withMaxWait(@Nullable Duration maxWait) {
        return new PermitRequest(
                tenant, permits, maxWait, maxHold, home, settled, settleWithin, onWaiting, requestClass);
    }

    public PermitRequest withMaxHold(@Nullable Duration maxHold) {
        return new PermitRequest(
                tenant, permits, maxWait, maxHold, home, settled, settleWithin, onWaiting, requestClass);
    }

    public PermitRequest withHome(Executor home) {
        return new PermitRequest(
                tenant, permits, maxWait, maxHold, home, settled, settleWithin, onWaiting, requestClass);
    }

    public PermitRequest withSettled(Mono<Void> settled) {
        return new PermitRequest(
                tenant, permits, maxWait, maxHold, home, settled, settleWithin, onWaiting, requestClass);
    }

    public PermitRequest withSettleWithin(@Nullable Duration settleWithin) {
        return new PermitRequest(
                tenant, permits, maxWait, maxHold, home, settled, settleWithin, onWaiting, requestClass);
    }

    public PermitRequest withOnWaiting(Runnable onWaiting) {
        return new PermitRequest(
                tenant, permits, maxWait, maxHold, home, settled, settleWithin, onWaiting, requestClass);
    }

    public PermitRequest withClass(@Nullable String requestClass) {
        return new PermitRequest(
                tenant, permits, maxWait, maxHold, home, settled, settleWithin, onWaiting, requestClass);
    }
}
