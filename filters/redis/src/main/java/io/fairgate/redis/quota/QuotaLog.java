package io.fairgate.redis.quota;

import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import reactor.util.Logger;
import reactor.util.Loggers;

/** Logs that Redis does not answer calls to quotas, and that it answers again; once each time. For any thread. */
final class QuotaLog {

    private static final Logger log = Loggers.getLogger(QuotaLog.class);

    private final AtomicBoolean isLost = new AtomicBoolean();
    /** The latest failure since the last answer. */
    private volatile @Nullable String failure;

    @Nullable
    String failure() {
        return failure;
    }

    void failed(Throwable error) {
        failure = error.toString();
        if (isLost.compareAndSet(false, true)) {
            log.warn("Redis does not answer for quotas ({}); requests that have quotas are refused.", error.toString());
        }
    }

    void answered() {
        failure = null;
        if (isLost.get() && isLost.compareAndSet(true, false)) {
            log.info("Redis answers for quotas again.");
        }
    }
}
