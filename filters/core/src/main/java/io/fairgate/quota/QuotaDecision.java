package io.fairgate.quota;

import java.time.Duration;
import java.util.List;

/**
 * What the quotas say of a request.
 *
 * @param allowed whether it passes
 * @param balances one for each quota, in the order asked; after the charge when it was charged
 */
public record QuotaDecision(boolean allowed, List<Balance> balances) {

    /** Passes, because nothing limits it. */
    public static final QuotaDecision UNLIMITED = new QuotaDecision(true, List.of());

    public QuotaDecision {
        balances = List.copyOf(balances);
    }

    /**
     * How one quota stands.
     *
     * @param remaining whole units left, never more than there are
     * @param untilFull how long until nothing of this quota is used any more
     * @param retryAfter zero when this quota lets the request pass; else how long until the same request would pass
     *     this quota; {@link #NEVER} when it asks for more than the quota ever holds
     */
    public record Balance(Quota quota, long remaining, Duration untilFull, Duration retryAfter) {
        /** The request is larger than the quota. */
        public static final Duration NEVER = Duration.ofSeconds(Long.MAX_VALUE);

        public boolean refuses() {
            return !retryAfter.isZero();
        }
    }

    /** The names of the quotas that refuse. */
    public List<String> violated() {
        return balances.stream()
                .filter(Balance::refuses)
                .map(b -> b.quota().name())
                .toList();
    }

    /** How long until the same request would pass all quotas; zero when it passes. */
    public Duration retryAfter() {
        return balances.stream()
                .map(Balance::retryAfter)
                .max(Duration::compareTo)
                .orElse(Duration.ZERO);
    }
}
