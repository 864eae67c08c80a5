package io.fairgate.redis.quota;

import java.util.List;
import reactor.core.publisher.Sinks;

/** Charges more to quotas that were charged, or gives units back. */
final class Settlement extends QuotaCall {

    private final List<String> marks;
    /** Completes when that is done. */
    final Sinks.Empty<Void> done;

    /**
     * @param marks what the charges of the quotas were answered with; empty for a quota that is left alone
     * @param more the units to charge, below 0 to give some back
     */
    Settlement(KeyedQuotas keyed, List<String> marks, long more, Sinks.Empty<Void> done) {
        super(What.SETTLE, keyed, more);
        this.marks = marks;
        this.done = done;
    }

    @Override
    String mark(int quota) {
        return quota < marks.size() ? marks.get(quota) : "";
    }

    @Override
    void answered(QuotaAnswer answer) {
        done.tryEmitEmpty();
    }

    @Override
    void failed(Throwable why, boolean isSent, boolean isOutage) {
        done.tryEmitError(why);
    }
}
