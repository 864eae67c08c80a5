package io.fairgate.redis.quota;

/** One call to the quotas of a set, and the code that gets its answer. */
abstract class QuotaCall {

    enum What {
        CHARGE,
        CHECK,
        BALANCES,
        SETTLE,
        /** Charges a chunk: units before requests ask for them, as far as much is left. */
        PREPAY,
        /** Ends a chunk, and gives back what was not used of it. */
        CLOSE;

        /** Whether the call is sent until it is executed. Others fail when the ledger does not answer. */
        boolean isSettlement() {
            return this == SETTLE || this == CLOSE;
        }
    }

    /** Changes until it is sent: a charge that was settled before is a check. */
    What what;

    final KeyedQuotas keyed;
    /**
     * Of a settlement the units in addition to those that were charged, below 0 to give some back; of a prepayment the most to charge; of
     * a closing 0, or below 0 what is given back; of a query of balances any.
     */
    final long amount;

    /** Then it is too late to send it, in nanoseconds; set by {@link QuotaCalls}. */
    long waitsUntil;

    QuotaCall(What what, KeyedQuotas keyed, long amount) {
        this.what = what;
        this.keyed = keyed;
        this.amount = amount;
    }

    /** Of a prepayment: if fewer units than that can be charged, none is. */
    long least() {
        return 1;
    }

    /** Of a settlement or closing, what the charge of each quota was answered with; empty for a quota that was not charged. */
    String mark(int quota) {
        return "";
    }

    /** It is about to be sent; called under the lock of {@link QuotaCalls}. */
    void sending() {}

    /**
     * The ledger has answered. On any thread; must not block. Also called after {@link #failed}, when an answer comes after all; then a
     * call that was not executed is answered with {@link QuotaAnswer.Outcome#NOTHING}.
     */
    abstract void answered(QuotaAnswer answer);

    /**
     * The ledger has not answered. A settlement is sent again nevertheless, and told only when it is not sent any more.
     *
     * @param isSent whether the call may have an effect; it will be answered then, unless the ledger is away for too long
     * @param isOutage whether the ledger does not answer at all; false when too many calls wait for it
     */
    abstract void failed(Throwable why, boolean isSent, boolean isOutage);
}
