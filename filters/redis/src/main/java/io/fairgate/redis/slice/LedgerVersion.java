package io.fairgate.redis.slice;

/**
 * A state of the ledger: later states compare greater.
 *
 * @param epoch counts how often the ledger may have lost writes
 * @param version counts the changes
 */
record LedgerVersion(long epoch, long version) implements Comparable<LedgerVersion> {

    /** Before the first answer. */
    static final LedgerVersion NONE = new LedgerVersion(0, 0);

    @Override
    public int compareTo(LedgerVersion other) {
        return epoch == other.epoch ? Long.compare(version, other.version) : Long.compare(epoch, other.epoch);
    }
}
