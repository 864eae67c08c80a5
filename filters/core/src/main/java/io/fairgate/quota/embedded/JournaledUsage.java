package io.fairgate.quota.embedded;

import io.fairgate.quota.Quota;
import io.fairgate.quota.journal.JournalRecord;
import io.fairgate.quota.journal.UsageJournal;
import io.fairgate.quota.journal.UsageKey;
import org.jspecify.annotations.Nullable;

/**
 * The usage of a window that is also in the journal. A record "up to N units are used" is on the disk before the units up to N
 * are granted; the next record is submitted when half a chunk is left, so that requests seldom wait. A chunk is a hundredth of
 * the limit, and at least one unit: with a limit below 200 each unit is written, one ahead.
 *
 * <p>The units that requests wait for are added up, and are part of the records until these requests are charged or have
 * ended. So requests that arrive during a write wait for one further write together. When they end without a charge, the
 * units are taken back, because otherwise a crash would make them used.
 */
final class JournaledUsage extends WindowUsage {

    private final UsageJournal journal;
    private final UsageKey key;
    private final Account account;

    /** The record that is on the disk, or would be if the disk had not failed. */
    private @Nullable JournalRecord written;
    /** The record that was submitted last; it is being written when it is not {@link #written}. */
    private @Nullable JournalRecord submitted;
    /** Whether a larger record is being written; charges and settlements submit no other meanwhile. */
    boolean isWriting;

    /** The units of waiting charges, whether they wait for this usage or for another of the same charge. */
    private long awaited;
    /** The limit at the last decision or settlement. */
    private long limit;

    /** Continues with what an earlier process wrote. */
    JournaledUsage(UsageJournal journal, UsageKey key, Account account) {
        this.journal = journal;
        this.key = key;
        this.account = account;
        this.written = journal.found(key);
        if (written != null) {
            window = written.window();
            used = written.used();
            windowNow = written.window();
            usedNow = used;
        }
    }

    /** Whether {@code units}, which pass, may be granted at once; if not, they must be written first. */
    boolean isCovered(Quota quota, long units) {
        limit = quota.limit();
        return usedNow + units <= covered();
    }

    /** @param units more units that a charge waits for; below 0 when it does not wait any more */
    void await(long units) {
        awaited += units;
    }

    /** Also writes the next chunk when half of the last one is used. */
    @Override
    long charge(long units) {
        long mark = super.charge(units);
        if (covered() - usedNow - awaited <= chunk() / 2) {
            raise();
        } else {
            lower();
        }
        return mark;
    }

    /** Also writes a debt, or takes back written units that were returned. */
    @Override
    void settle(Quota quota, long mark, long more, ClockReading now) {
        super.settle(quota, mark, more, now);
        limit = quota.limit();
        follow();
    }

    /** Writes units that are used or awaited and not written yet, and takes back written units that are neither. */
    void follow() {
        if (usedNow + awaited > covered()) {
            raise();
        } else {
            lower();
        }
    }

    /** Takes back the rest of the chunk. */
    void writeExactly() {
        if (window != null) {
            windowNow = window;
            usedNow = used;
            set(used);
        }
    }

    /** The journal has a chunk more than what is used, and a new usage would find that. */
    @Override
    boolean isNothing(ClockReading now) {
        return isOver(now) && !isWriting && (submitted == null || now.wallMillis >= submitted.window().endMillis());
    }

    private long chunk() {
        return Math.max(1, limit / 100);
    }

    private long covered() {
        return written == null || !written.window().equals(windowNow) ? 0 : written.used();
    }

    /** Takes back what is more than a chunk above use and demand; while a record is being written, the next one does that. */
    private void lower() {
        long enough = usedNow + awaited + chunk();
        if (covered() > enough && !isWriting) {
            set(enough);
        }
    }

    /** Submits a smaller record, which counts here at once: no unit is granted that the disk does not know as used. */
    private void set(long less) {
        written = new JournalRecord(key, windowNow, less);
        submitted = written;
        journal.write(written, () -> {});
    }

    /**
     * Submits a record of the used and awaited units and one chunk more, because other requests may use units before the
     * waiting ones are charged. Does nothing when that much is covered: a smaller record would take back units that may have
     * been granted by now.
     */
    private void raise() {
        long upTo = Math.max(usedNow, Math.min(limit, usedNow + awaited + chunk()));
        if (!isWriting && upTo > covered()) {
            isWriting = true;
            JournalRecord next = new JournalRecord(key, windowNow, upTo);
            submitted = next;
            journal.write(next, () -> done(next));
        }
    }

    private void done(JournalRecord record) {
        synchronized (account) {
            isWriting = false;
            if (record.equals(submitted)) {
                written = record;
            }
            follow();
        }
    }
}
