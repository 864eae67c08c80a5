package io.fairgate.redis.slice;

import io.fairgate.redis.connection.FailureText;
import io.fairgate.status.SliceStatus;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import reactor.util.Logger;
import reactor.util.Loggers;

/** Logs what changes for the slice of one pool. The failure may be read by any thread; the rest is for one caller at a time. */
final class SliceLog {

    private static final Logger log = Loggers.getLogger(SliceLog.class);

    /** Longer than the term in which permits are granted without an answer. */
    private static final Duration BEFORE_WARNING = Duration.ofSeconds(2);

    private static final int MOST_LOGGED = 10;

    private final String pool;
    private final OutagePolicy outagePolicy;
    private int permits;
    private boolean isInForce;
    private boolean isOutage;
    private int permitsOfOutage;
    private boolean isRecovering;
    private int poolPermits;

    /** What was logged since the pool was last in force. */
    private final Set<String> logged = new HashSet<>();

    /** The latest failure since the last answer. */
    private volatile @Nullable String failure;

    /** @param outagePolicy what happens while Redis does not answer */
    SliceLog(String pool, int permits, OutagePolicy outagePolicy) {
        this.pool = pool;
        this.outagePolicy = outagePolicy;
        this.permits = permits;
        this.poolPermits = permits;
        warnIfTooSmall();
    }

    /** The size of the pool in the policy of this node. */
    void permits(int permits) {
        this.permits = permits;
        warnIfTooSmall();
    }

    private void warnIfTooSmall() {
        if (outagePolicy.isTooSmall(permits)) {
            log.warn(
                    "Pool {}: {} permits are too few for a part of each gateway; requests are refused while Redis does not answer, in spite of the policy {}.",
                    pool,
                    permits,
                    outagePolicy);
        }
    }

    void answered() {
        failure = null;
    }

    void failed(Throwable error) {
        failure = FailureText.of(error);
    }

    /** An exception of our own. */
    void fault(Throwable error) {
        failed(error);
        if (isNew(FailureText.of(error))) {
            log.error("Pool {}: a heartbeat has failed.", pool, error);
        }
    }

    @Nullable
    String failure() {
        return failure;
    }

    private String reason() {
        String latest = failure;
        return latest == null ? "no failure" : latest;
    }

    /** Whether this was not logged since the pool was last in force. */
    private boolean isNew(String text) {
        return logged.size() < MOST_LOGGED && logged.add(text);
    }

    void now(SliceStatus slice) {
        if (slice.isOutage()) {
            if (!isOutage || slice.permits() != permitsOfOutage) {
                permitsOfOutage = slice.permits();
                log.warn(
                        "Pool {}: no answer of Redis for {} ms ({}); this gateway goes on with {} of {} permits ({}).",
                        pool,
                        slice.sinceAnswer().toMillis(),
                        reason(),
                        slice.permits(),
                        slice.poolPermits(),
                        outagePolicy);
            }
        } else if (slice.isInForce()) {
            if (!isInForce || isOutage) {
                log.info(
                        "Pool {}: {} of {} permits, shared by {} through Redis.",
                        pool,
                        slice.permits(),
                        slice.poolPermits(),
                        slice.nodes() == 1 ? "1 gateway" : slice.nodes() + " gateways");
            }
            logged.clear();
        } else if (slice.sinceAnswer().compareTo(BEFORE_WARNING) > 0) {
            if (isNew(reason())) {
                log.warn(
                        "Pool {}: its heartbeats to Redis have failed for {} ms ({}); its requests are refused.",
                        pool,
                        slice.sinceAnswer().toMillis(),
                        reason());
            }
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
        isOutage = slice.isOutage();
        isRecovering = slice.isRecovering();
        poolPermits = slice.poolPermits();
    }
}
