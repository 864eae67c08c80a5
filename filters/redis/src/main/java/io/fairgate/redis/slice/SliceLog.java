package io.fairgate.redis.slice;

import io.fairgate.status.SliceStatus;
import org.jspecify.annotations.Nullable;
import reactor.util.Logger;
import reactor.util.Loggers;

/** Logs what changes for the slice of one pool. The failure may be read by any thread; the rest is for one caller at a time. */
final class SliceLog {

    private static final Logger log = Loggers.getLogger(SliceLog.class);

    private final String pool;
    private int permits;
    private boolean isInForce;
    private boolean isRecovering;
    private int poolPermits;

    /** The latest failure since the last answer. */
    private volatile @Nullable String failure;

    SliceLog(String pool, int permits) {
        this.pool = pool;
        this.permits = permits;
        this.poolPermits = permits;
    }

    /** The size of the pool in the policy of this node. */
    void permits(int permits) {
        this.permits = permits;
    }

    void answered() {
        failure = null;
    }

    /** Logged once, until there was an answer or another failure. */
    void failed(Throwable error) {
        String message = error.getMessage();
        String text = error.getClass().getSimpleName() + (message == null ? "" : ": " + message);
        if (!text.equals(failure)) {
            failure = text;
            log.warn("Pool {}: no answer of Redis ({}).", pool, text);
        }
    }

    @Nullable
    String failure() {
        return failure;
    }

    void now(SliceStatus slice) {
        if (slice.isInForce() && !isInForce) {
            log.info(
                    "Pool {}: {} of {} permits, shared by {} gateways through Redis.",
                    pool,
                    slice.permits(),
                    slice.poolPermits(),
                    slice.nodes());
        } else if (!slice.isInForce() && isInForce) {
            log.warn(
                    "Pool {}: no answer of Redis for {} ms; its requests are refused until there is one.",
                    pool,
                    slice.sinceAnswer().toMillis());
        }
        if (slice.isRecovering() && !isRecovering) {
            log.warn(
                    "Pool {}: Redis is new or has lost what it kept (epoch {}); no gateway gets more permits for some seconds.",
                    pool,
                    slice.epoch());
        }
        if (slice.poolPermits() != poolPermits && slice.poolPermits() != permits) {
            log.warn(
                    "Pool {}: the policies of gateways differ; {} permits are in force, and {} in the policy here.",
                    pool,
                    slice.poolPermits(),
                    permits);
        }
        isInForce = slice.isInForce();
        isRecovering = slice.isRecovering();
        poolPermits = slice.poolPermits();
    }
}
