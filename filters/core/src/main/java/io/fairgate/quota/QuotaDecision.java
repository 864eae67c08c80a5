package io.fairgate.quota;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** The decision of the quotas about a request. It can be kept, and read by any thread. */
public final class QuotaDecision {

    /** The request passes, because no quota applies. */
    public static final QuotaDecision UNLIMITED = new QuotaDecision(true, List::of, List.of());

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
     * @param balances computes the balances of the enforced quotas, at each call
     * @param wouldRefuse the labels of the quotas that are not enforced and would refuse if they were
     */
    public static QuotaDecision passed(Supplier<List<Balance>> balances, List<String> wouldRefuse) {
        return new QuotaDecision(true, balances, wouldRefuse);
    }

    /** A request that is refused, with the balances of the enforced quotas at that moment. */
    public static QuotaDecision refused(List<Balance> balances) {
        List<Balance> atTheRefusal = List.copyOf(balances);
        return new QuotaDecision(false, () -> atTheRefusal, List.of());
    }

    /**
     * The balance of one quota.
     *
     * @param remaining the units left, rounded down to a whole number
     * @param untilFull the time until nothing of this quota is used any more; {@link #NEVER} when that does not happen
     * @param retryAfter zero when this quota lets the request pass; otherwise the time until the same request would pass
     *     this quota; {@link #NEVER} when it asks for more than the quota will ever have
     */
    public record Balance(OwnedQuota of, long remaining, Duration untilFull, Duration retryAfter) {
        /** Stands for a time that does not come. */
        public static final Duration NEVER = Duration.ofSeconds(Long.MAX_VALUE);

        public Quota quota() {
            return of.quota();
        }

        public boolean refuses() {
            return !retryAfter.isZero();
        }
    }

    /** Whether the request passes. */
    public boolean allowed() {
        return allowed;
    }

    /**
     * The balances of the enforced quotas, in the order of the set. For a refusal, the balances at the refusal. For a request
     * that passes, the latest balances that are known without asking a backend: they include its own charge, and may include
     * later charges of others.
     */
    public List<Balance> balances() {
        return balances.get();
    }

    /** The labels of the quotas that refuse. */
    public List<String> violated() {
        if (allowed) {
            return List.of();
        }
        List<String> labels = new ArrayList<>(1);
        for (Balance balance : balances()) {
            if (balance.refuses()) {
                labels.add(balance.of().label());
            }
        }
        return List.copyOf(labels);
    }

    /** The labels of the quotas that are not enforced and would have refused; empty for a request that is refused. */
    public List<String> wouldRefuse() {
        return wouldRefuse;
    }

    /** The time until the same request would pass all quotas; zero when it passes. */
    public Duration retryAfter() {
        Duration longest = Duration.ZERO;
        if (!allowed) {
            for (Balance balance : balances()) {
                longest = balance.retryAfter().compareTo(longest) > 0 ? balance.retryAfter() : longest;
            }
        }
        return longest;
    }

    @Override
    public String toString() {
        return (allowed ? "passed " : "refused ")
                + balances()
                + (wouldRefuse.isEmpty() ? "" : " but for " + wouldRefuse);
    }
}
