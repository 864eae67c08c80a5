package io.fairgate.redis.quota;

import io.fairgate.redis.connection.FailureText;
import org.jspecify.annotations.Nullable;
import reactor.util.Logger;
import reactor.util.Loggers;

/** Logs that Redis does not answer calls to quotas, and that it answers again; once each time. For any thread. */
final class QuotaLog {

    private static final Logger log = Loggers.getLogger(QuotaLog.class);

    /** The latest failure since the last answer. */
    private volatile @Nullable String failure;

    @Nullable
    String failure() {
        return failure;
    }

    void failed(Throwable error) {
        String before = failure;
        String text = FailureText.of(error);
        failure = text;
        if (before == null) {
            log.warn("Redis does not answer for quotas ({}); requests that have quotas are refused.", text);
        }
    }

    void answered() {
        if (failure != null) {
            failure = null;
            log.info("Redis answers for quotas again.");
        }
    }

    /** An exception of our own. */
    void fault(Throwable error) {
        log.error("A call to the quotas has failed after its answer.", error);
    }
}
