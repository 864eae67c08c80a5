package io.fairgate.redis.quota;

import io.fairgate.redis.connection.FailureText;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import reactor.util.Logger;
import reactor.util.Loggers;

/** Logs that Redis does not answer calls to quotas, and that it answers again; once each time. For any thread. */
final class QuotaLog {

    private static final Logger log = Loggers.getLogger(QuotaLog.class);

    private static final int MOST_LOGGED = 10;

    private final Set<String> unreadable = ConcurrentHashMap.newKeySet();

    private final String meanwhile;
    private final AtomicLong late = new AtomicLong();

    /** The latest failure since the last answer. */
    private volatile @Nullable String failure;

    /** @param isOpen whether requests pass while Redis does not answer */
    QuotaLog(boolean isOpen) {
        meanwhile = isOpen ? "are served and not charged" : "are refused";
    }

    @Nullable
    String failure() {
        return failure;
    }

    void failed(Throwable error) {
        String before = failure;
        String text = FailureText.of(error);
        failure = text;
        if (before == null) {
            log.warn("Redis does not answer for quotas ({}); requests that have enforced quotas {}.", text, meanwhile);
        }
    }

    void answered() {
        if (failure != null) {
            failure = null;
            log.info("Redis answers for quotas again.");
        }
    }

    /** Units that were to be given back or charged stay as they are. */
    void abandoned(int settlements) {
        if (settlements > 0) {
            log.warn("Redis has not answered for too long: {} charges stay as they were estimated.", settlements);
        }
    }

    /** Calls that have not been sent, because too many wait. Logs the 1st, 10th, 100th and so on, as a flood may last. */
    void tooSlow(int calls) {
        long before = late.getAndAdd(calls);
        if (Long.toString(before).length() < Long.toString(before + calls).length() || before == 0) {
            log.warn(
                    "Redis does not answer calls to quotas soon enough; requests that have enforced quotas were refused, {} until now.",
                    before + calls);
        }
    }

    /** Once for each text, and not for more than a few. */
    void unreadable(String quotas) {
        if (unreadable.size() < MOST_LOGGED && unreadable.add(quotas)) {
            log.warn(
                    "Redis has usage that this version cannot read, of one of {}; their requests are refused.", quotas);
        }
    }

    /** An exception of our own. */
    void fault(Throwable error) {
        log.error("A call to the quotas has failed after its answer.", error);
    }
}
