package io.fairgate.quota;

import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;

/** What the quotas say of a request. A decision can be kept and asked from any thread. */
public final class QuotaDecision {

    /** Passes, because nothing limits it. */
    public static final QuotaDecision UNLIMITED = new QuotaDecision(true, List::of, List.of());

    /** No answer: the balances are no longer where they were looked for. */
    static final QuotaDecision STALE = new QuotaDecision(false, List::of, List.of());

    /** No answer: units have to be written down before they are given. */
    static final QuotaDecision NOT_YET = new QuotaDecision(false, List::of, List.of());

    private final boolean allowed;
    private final Supplier<List<Balance>> balances;
    private final List<String> wouldRefuse;

    private QuotaDecision(boolean allowed, Supplier<List<Balance>> balances, List<String> wouldRefuse) {
        this.allowed = allowed;
        this.balances = balances;
        this.wouldRefuse = List.copyOf(wouldRefuse);
    }

    /**
     * A request that passes.
     *
     * @param balances how the enforced quotas stand, computed when somebody asks
     * @param wouldRefuse the labels of the quotas that are not enforced and would refuse if they were
     */
    public static QuotaDecision passed(Supplier<List<Balance>> balances, List<String> wouldRefuse) {
        return new QuotaDecision(true, balances, wouldRefuse);
    }

    /** A request that is refused, with how the enforced quotas stood for it. */
    public static QuotaDecision refused(List<Balance> balances) {
        List<Balance> atTheRefusal = List.copyOf(balances);
        return new QuotaDecision(false, () -> atTheRefusal, List.of());
    }

    /**
     * How one quota stands.
     *
     * @param remaining whole units left, never more than there are
     * @param untilFull how long until nothing of this quota is used any more; {@link #NEVER} when that does not come
     * @param retryAfter zero when this quota lets the request pass; else how long until the same request would pass
     *     this quota; {@link #NEVER} when it asks for more than the quota will ever hold
     */
    public record Balance(OwnedQuota of, long remaining, Duration untilFull, Duration retryAfter) {
        /** Longer than any time: it does not come. */
        public static final Duration NEVER = Duration.ofSeconds(Long.MAX_VALUE);

        public Quota quota() {
            return of.quota();
        }

        public boolean refuses() {
            return !retryAfter.isZero();
        }
    }

    /** Whether it passes. */
    public boolean allowed() {
        return allowed;
    }

    /**
     * How the enforced quotas stand, in the order of the set: for a refusal as they stood then, for a request that passes
     * as they stand when this is called, its own charge and those of others since then included.
     */
    public List<Balance> balances() {
        return balances.get();
    }

    /** The labels of the quotas that refuse. */
    public List<String> violated() {
        return allowed
                ? List.of()
                : balances().stream()
                        .filter(Balance::refuses)
                        .map(balance -> balance.of().label())
                        .toList();
    }

    /** The labels of the quotas that are not enforced and would have refused; only of a request that passes. */
    public List<String> wouldRefuse() {
        return wouldRefuse;
    }

    /** How long until the same request would pass all quotas; zero when it passes. */
    public Duration retryAfter() {
        return allowed
                ? Duration.ZERO
                : balances().stream()
                        .map(Balance::retryAfter)
                        .max(Duration::compareTo)
                        .orElse(Duration.ZERO);
    }

    @Override
    public String toString() {
        return (allowed ? "passed " : "refused ")
                + balances()
                + (wouldRefuse.isEmpty() ? "" : " but for " + wouldRefuse);
    }
}
