package io.fairgate.quota;

import org.jspecify.annotations.Nullable;

/**
 * What is written down of one usage, and when the next chunk is. A record "up to N units are used" is on the disk before
 * the units up to N are given; the next one is asked for when half a chunk is left, so that requests seldom wait. A chunk
 * is a hundredth of the limit. Called under the lock of the account.
 */
final class JournaledUsage {

    private final UsageJournal journal;
    private final JournalRecord.Key key;
    private final Account account;

    /** The record that is on the disk, or as good as that when the disk fails. */
    private @Nullable JournalRecord written;
    /** Whether a record is on its way to the disk. */
    private boolean isWriting;

    JournaledUsage(UsageJournal journal, JournalRecord.Key key, Account account) {
        this.journal = journal;
        this.key = key;
        this.account = account;
        this.written = journal.found(key);
    }

    /** What an earlier process left. */
    @Nullable
    JournalRecord found() {
        return written;
    }

    /** Whether that many more units of the window may be given; if not, and before that is so, a record is written. */
    boolean covers(CalendarWindow window, long used, long units, long limit) {
        long covered = covered(window);
        long after = used + units;
        long chunk = chunk(limit);
        if (after > covered) {
            // A chunk beyond what is wanted now: others must not use that up before it can be given.
            write(window, Math.max(after, Math.min(limit, after + chunk)));
            return false;
        }
        if (covered - after < chunk / 2 && covered < limit) {
            write(window, Math.min(limit, after + chunk));
        }
        lower(window, after, chunk);
        return true;
    }

    /**
     * After a settlement: writes down a debt, and takes back what is written of units that were given back.
     */
    void follow(CalendarWindow window, long used, long limit) {
        long covered = covered(window);
        if (used > covered) {
            write(window, used);
        } else {
            lower(window, used, chunk(limit));
        }
    }

    /** What is given back while a record is on its way is taken back from the next one. */
    private void lower(CalendarWindow window, long used, long chunk) {
        if (covered(window) > used + chunk && !isWriting) {
            // Lowered here before it is on the disk, so that nothing is given that the disk no longer knows of.
            written = new JournalRecord(key, window, used + chunk);
            journal.write(written, () -> {});
        }
    }

    void writeExactly(CalendarWindow window, long used) {
        written = new JournalRecord(key, window, used);
        journal.write(written, () -> {});
    }

    private static long chunk(long limit) {
        return Math.max(1, limit / 100);
    }

    private long covered(CalendarWindow window) {
        return written == null || !written.window().equals(window) ? 0 : written.used();
    }

    private void write(CalendarWindow window, long used) {
        if (!isWriting) {
            isWriting = true;
            JournalRecord next = new JournalRecord(key, window, used);
            journal.write(next, () -> done(next));
        }
    }

    private void done(JournalRecord record) {
        synchronized (account) {
            written = record;
            isWriting = false;
        }
    }
}
