package io.fairgate.quota;

import org.jspecify.annotations.Nullable;

/**
 * What is written down of one usage, and when the next chunk is. A record "up to N units are used" is on the disk before
 * the units up to N are given; the next one is asked for when half a chunk is left, so that requests seldom wait. A chunk
 * is a hundredth of the limit, and at least one unit: of a limit below 200 each unit is written, one ahead.
 *
 * <p>What requests wait for is added up, and is in a record until they have come back for it or left. So a crowd that
 * comes while a record is on its way waits for one access to the disk and not each for its own; and when it leaves, what
 * was written for it is taken back, or a crash would make it used. Called under the lock of the account.
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

    /** Units of those who wait, for this usage or another that they are charged to as well. */
    private long awaited;

    // As it was found lately.
    private CalendarWindow window = CalendarWindow.ALWAYS;
    private long used;
    private long limit;

    JournaledUsage(UsageJournal journal, JournalRecord.Key key, Account account) {
        this.journal = journal;
        this.key = key;
        this.account = account;
        this.written = journal.found(key);
        if (written != null) {
            this.window = written.window();
            this.used = written.used();
        }
    }

    /** What an earlier process left. */
    @Nullable
    JournalRecord found() {
        return written;
    }

    /** Whether that many more units of the window may be given now. */
    boolean covers(CalendarWindow window, long used, long units, long limit) {
        find(window, used, limit);
        return used + units <= covered();
    }

    /** @param units that somebody waits for; below 0 when nobody does any more */
    void await(long units) {
        awaited += units;
    }

    /** After a charge that was covered: writes down the next chunk when it is time to. */
    void charged(CalendarWindow window, long used) {
        find(window, used, limit);
        if (covered() - used - awaited <= chunk() / 2) {
            raise();
        } else {
            lower();
        }
    }

    /** After a settlement: writes down a debt, and takes back what is written of units that were given back. */
    void settled(CalendarWindow window, long used, long limit) {
        find(window, used, limit);
        follow();
    }

    private void find(CalendarWindow window, long used, long limit) {
        this.window = window;
        this.used = used;
        this.limit = limit;
    }

    /** Writes down what is used or waited for and is not written, and takes back what is neither. */
    void follow() {
        if (used + awaited > covered()) {
            raise();
        } else {
            lower();
        }
    }

    void writeExactly(CalendarWindow window, long used) {
        find(window, used, limit);
        set(used);
    }

    /** Whether nothing is on its way to the disk, and all that was written is of windows that are over. */
    boolean isOver(long wallMillis) {
        return !isWriting && (asked == null || wallMillis >= asked.window().endMillis());
    }

    boolean isWriting() {
        return isWriting;
    }

    private long chunk() {
        return Math.max(1, limit / 100);
    }

    private long covered() {
        return written == null || !written.window().equals(window) ? 0 : written.used();
    }

    /** What is given back while a record is on its way is taken back from the next one. */
    private void lower() {
        long enough = used + awaited + chunk();
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
     * What is used, what is waited for, and a chunk beyond that, which others may use up before those get theirs. Nothing
     * when that much is covered: a lower record would take back what may be given by now.
     */
    private void raise() {
        long upTo = Math.max(used, Math.min(limit, used + awaited + chunk()));
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
            follow();
        }
    }
}
