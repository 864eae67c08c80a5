package io.fairgate.permit;

import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * A request for permits of a pool.
 *
 * @param permits how many permits at once, at least 1
 * @param maxWait the longest wait; null for the pool's own maximum
 * @param maxHold the longest hold, from the grant on; null for the pool's own maximum
 * @param eventLoop the request's event loop: the work is subscribed, refusals are emitted, and a work that holds for too long is
 *     cancelled on it. It must run its tasks one after the other, later or at once, and no task may block: a task that runs at
 *     once runs on a thread that may be at work for other requests. If it is a
 *     {@link java.util.concurrent.ScheduledExecutorService}, as Netty's event loops are, one of its timers bounds the quiescing
 *     of a work that is cancelled. Null for the scheduler of the pool, by default
 *     {@link reactor.core.scheduler.Schedulers#parallel()}, and for the subscribing thread when the request need not wait
 * @param quiesced completes when a work that was cancelled or failed has really ended; its permits come back only then. Null
 *     when such a work ends at once. The signals to the subscriber do not wait for it
 * @param quiesceWithin the longest wait for {@code quiesced}, from the cancellation or the failure on; null for
 *     {@link #QUIESCE_WITHIN}
 * @param onWaiting called once when the request has to wait, on the subscribing thread or on the request's event loop; must
 *     not block or throw
 * @param requestClass the class of the request within its tenant; null, or a class that the pool does not know, for no class
 */
public record PermitRequest(
        TenantId tenant,
        int permits,
        @Nullable Duration maxWait,
        @Nullable Duration maxHold,
        @Nullable Executor eventLoop,
        @Nullable Mono<Void> quiesced,
        @Nullable Duration quiesceWithin,
        @Nullable Runnable onWaiting,
        @Nullable String requestClass) {

    /** The default of {@code quiesceWithin}: when it has passed, the permits come back although the work has not quiesced. */
    public static final Duration QUIESCE_WITHIN = Duration.ofSeconds(1);

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
        if (quiesceWithin != null) {
            PoolSettings.requirePositive("quiesce-within", quiesceWithin);
        }
    }

    /** One permit for the tenant, with the defaults of the pool. */
    public static PermitRequest of(TenantId tenant) {
        return new PermitRequest(tenant, 1, null, null, null, null, null, null, null);
    }

    /** One permit for the tenant, with the defaults of the pool. */
    public static PermitRequest of(String tenant) {
        return of(TenantId.of(tenant));
    }

    public PermitRequest withPermits(int permits) {
        return new PermitRequest(
                tenant, permits, maxWait, maxHold, eventLoop, quiesced, quiesceWithin, onWaiting, requestClass);
    }

    public PermitRequest withMaxWait(@Nullable Duration maxWait) {
        return new PermitRequest(
                tenant, permits, maxWait, maxHold, eventLoop, quiesced, quiesceWithin, onWaiting, requestClass);
    }

    public PermitRequest withMaxHold(@Nullable Duration maxHold) {
        return new PermitRequest(
                tenant, permits, maxWait, maxHold, eventLoop, quiesced, quiesceWithin, onWaiting, requestClass);
    }

    public PermitRequest withEventLoop(Executor eventLoop) {
        return new PermitRequest(
                tenant, permits, maxWait, maxHold, eventLoop, quiesced, quiesceWithin, onWaiting, requestClass);
    }

    public PermitRequest withQuiesced(Mono<Void> quiesced) {
        return new PermitRequest(
                tenant, permits, maxWait, maxHold, eventLoop, quiesced, quiesceWithin, onWaiting, requestClass);
    }

    public PermitRequest withQuiesceWithin(@Nullable Duration quiesceWithin) {
        return new PermitRequest(
                tenant, permits, maxWait, maxHold, eventLoop, quiesced, quiesceWithin, onWaiting, requestClass);
    }

    public PermitRequest withOnWaiting(Runnable onWaiting) {
        return new PermitRequest(
                tenant, permits, maxWait, maxHold, eventLoop, quiesced, quiesceWithin, onWaiting, requestClass);
    }

    public PermitRequest withClass(@Nullable String requestClass) {
        return new PermitRequest(
                tenant, permits, maxWait, maxHold, eventLoop, quiesced, quiesceWithin, onWaiting, requestClass);
    }
}
