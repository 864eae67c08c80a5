package io.fairgate.redis.quota;

/**
 * One call to the quotas of a set, and the code that gets its answer. Once it has failed it may still be answered, if it was sent.
 */
abstract class QuotaCall {

    enum What {
        CHARGE,
        CHECK,
        BALANCES,
        SETTLE
    }

    final What what;
    final KeyedQuotas quotas;
    /** Of a settlement the units in addition to those that were charged, below 0 to give some back; of a query of balances any. */
    final long units;

    QuotaCall(What what, KeyedQuotas quotas, long units) {
        this.what = what;
        this.quotas = quotas;
        this.units = units;
    }

    /** Of a settlement, what the charge of each quota was answered with; empty for a quota that was not charged. */
    String mark(int quota) {
        return "";
    }

    /** The ledger has answered. On any thread; must not block or throw. */
    abstract void answered(QuotaAnswer answer);

    /**
     * The ledger has not answered. A settlement is sent again nevertheless, and told only when it is not sent any more.
     *
     * @param isSent whether the call may have an effect, or may have one later; an answer will come then, unless the ledger is away for
     *     too long
     */
    abstract void failed(Throwable why, boolean isSent);
}
