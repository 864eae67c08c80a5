package io.fairgate.quota;

import org.jspecify.annotations.Nullable;

/**
 * What is written down of one usage, and when the next chunk is. A record "up to N units are used" is on the disk before
 * the units up to N are given; the next one is asked for when half a chunk is left, so that requests seldom wait. A chunk
 * is a hundredth of the limit, and at least one unit: of a limit below 200 each unit is written, one ahead.
 *
 * <p>What is wanted while a record is on its way is added up and written with the next one, so that a crowd waits for one
 * access to the disk and not each for its own. Called under the lock of the account.
 */
final class JournaledUsage {

    private final UsageJournal journal;
    private final JournalRecord.Key key;
    private final Account account;

    /** The record that is on the disk, or as good as that when the disk fails. */
    private @Nullable JournalRecord written;
    /** The one that was asked for last; it is on its way to the disk when it is not the one above. */
    private @Nullable JournalRecord asked;
    /** Whether nobody may ask for another. */
    private boolean isWriting;

    /** Units that came while a record was on its way, and did not fit into what was written. */
    private long wanted;
    /** Units of the latest record that are for those who wait for it, and have not been given since. */
    private long promised;

    // As it was found lately.
    private CalendarWindow window = CalendarWindow.ALWAYS;
    private long used;
    private long limit;

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

    /**
     * Whether that many more units of the window may be given now. If not, a record is asked for; so it is as well some
     * time before that.
     */
    boolean covers(CalendarWindow window, long used, long units, long limit) {
        find(window, used, limit);
        long after = used + units;
        if (after > covered()) {
            wanted += units;
            write();
        } else {
            promised = Math.max(0, promised - units);
            this.used = after;
            if (covered() - after <= chunk() / 2 && covered() < limit) {
                write();
            }
            lower();
        }
        // As good as written at once, when nobody is to wait for the disk.
        return after <= covered();
    }

    /**
     * After a settlement: writes down a debt, and takes back what is written of units that were given back.
     */
    void follow(CalendarWindow window, long used, long limit) {
        find(window, used, limit);
        if (used > covered()) {
            write(used);
        } else {
            lower();
        }
    }

    private void find(CalendarWindow window, long used, long limit) {
        this.window = window;
        this.used = used;
        this.limit = limit;
    }

    void writeExactly(CalendarWindow window, long used) {
        find(window, used, limit);
        set(used);
    }

    private long chunk() {
        return Math.max(1, limit / 100);
    }

    private long covered() {
        return written == null || !written.window().equals(window) ? 0 : written.used();
    }

    /** What is given back while a record is on its way is taken back from the next one. */
    private void lower() {
        long enough = used + promised + chunk();
        if (covered() > enough && !isWriting) {
            set(enough);
        }
    }

    /** Counts here before it is on the disk, because it is less: nothing is given that the disk no longer knows of. */
    private void set(long less) {
        written = new JournalRecord(key, window, less);
        asked = written;
        journal.write(written, () -> {});
    }

    /**
     * What is used, what is wanted, and a chunk beyond that, which others may use up before those get theirs. Nothing when
     * that much is covered: a lower record would take back what may be given by now.
     */
    private void write() {
        long upTo = Math.max(used, Math.min(limit, used + wanted + chunk()));
        if (!isWriting) {
            promised = upTo > covered() ? wanted : promised;
            wanted = 0;
            write(upTo);
        }
    }

    private void write(long upTo) {
        if (!isWriting && upTo > covered()) {
            isWriting = true;
            JournalRecord next = new JournalRecord(key, window, upTo);
            asked = next;
            journal.write(next, () -> done(next));
        }
    }

    private void done(JournalRecord record) {
        synchronized (account) {
            isWriting = false;
            if (record.equals(asked)) {
                written = record;
            }
            if (wanted > 0 || used > covered()) {
                write();
            }
        }
    }
}
