package io.fairgate.redis.quota;

import io.fairgate.quota.QuotaDecision.Balance;
import java.time.Duration;
import java.util.List;

/**
 * The answer to one call.
 *
 * @param charged the units that each quota with a mark was charged
 * @param balances of quotas in the order of the call: of all, or for a refusal of the enforced ones
 */
record QuotaAnswer(Outcome outcome, long charged, List<QuotaLeft> balances) {

    enum Outcome {
        PASSED,
        /** Quotas that are not enforced would refuse; of these none is charged. */
        PASSED_BUT,
        REFUSED,
        /** The call has no effect: Redis is in another calendar window than the call names. */
        OTHER_WINDOW,
        /** The call has no effect: what Redis has of one of its quotas is of another version. */
        UNREADABLE,
        /** The call has no effect: it was not executed before it was sent again. */
        NOTHING
    }

    /** In the place of an answer that will not come any more. */
    static final QuotaAnswer NOT_KNOWN = new QuotaAnswer(Outcome.NOTHING, 0, List.of());

    QuotaAnswer {
        balances = List.copyOf(balances);
    }

    List<String> marks() {
        return balances.stream().map(QuotaLeft::mark).toList();
    }

    /**
     * What is left of one quota.
     *
     * @param waitMicros until the call would pass; 0 when it passes, and {@link #NEVER}
     * @param fullMicros until nothing is used; {@link #NEVER} when that does not happen
     * @param mark for a settlement of what was charged; empty when this quota was not charged
     */
    record QuotaLeft(long units, long waitMicros, long fullMicros, String mark) {

        static final long NEVER = -1;

        Duration retryAfter() {
            return duration(waitMicros);
        }

        Duration untilFull() {
            return duration(fullMicros);
        }

        private static Duration duration(long micros) {
            return micros == NEVER ? Balance.NEVER : Duration.ofNanos(micros * 1_000);
        }
    }
}
