package io.fairgate.quota.embedded;

import io.fairgate.quota.CalendarWindow;
import io.fairgate.quota.journal.JournalRecord;
import io.fairgate.quota.journal.UsageJournal;

import org.jspecify.annotations.Nullable;

/**
 * The journal entry of one usage: what is written, and when the next chunk is written. A record "up to N units are used" is
 * on the disk before the units up to N are granted; the next record is submitted when half a chunk is left, so that requests
 * seldom wait. A chunk is a hundredth of the limit, and at least one unit: with a limit below 200 each unit is written, one
 * ahead.
 *
 * <p>The units that requests wait for are added up, and are part of the records until these requests are charged or have
 * ended. So requests that arrive during a write wait for one further write together. When they end without a charge, the
 * units are taken back, because otherwise a crash would make them used. Called under the lock of the account.
 */
final class JournaledUsage {

    private final UsageJournal journal;
    private final JournalRecord.Key key;
    private final Account account;

    /** The record that is on the disk, or would be if the disk had not failed. */
    private @Nullable JournalRecord written;
    /** The record that was submitted last; it is being written when it is not {@link #written}. */
    private @Nullable JournalRecord asked;
    /** Whether a larger record is being written; charges and settlements submit no other meanwhile. */
    private boolean isWriting;

    /** The units of waiting charges, whether they wait for this usage or for another of the same charge. */
    private long awaited;

    // The state of the usage at the last call.
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

    /** The record of an earlier process; null when there is none. */
    @Nullable
    JournalRecord found() {
        return written;
    }

    /** Whether {@code units} more of the window may be granted now. */
    boolean covers(CalendarWindow window, long used, long units, long limit) {
        find(window, used, limit);
        return used + units <= covered();
    }

    /** @param units more units that a charge waits for; below 0 when it does not wait any more */
    void await(long units) {
        awaited += units;
    }

    /** After a charge that was covered: writes the next chunk when half of the last one is used. */
    void charged(CalendarWindow window, long used) {
        find(window, used, limit);
        if (covered() - used - awaited <= chunk() / 2) {
            raise();
        } else {
            lower();
        }
    }

    /** After a settlement: writes a debt, or takes back written units that were returned. */
    void settled(CalendarWindow window, long used, long limit) {
        find(window, used, limit);
        follow();
    }

    private void find(CalendarWindow window, long used, long limit) {
        this.window = window;
        this.used = used;
        this.limit = limit;
    }

    /** Writes units that are used or awaited and not written yet, and takes back written units that are neither. */
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

    /** Whether no record is being written, and the last one is of a window that is over. */
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

    /** Takes back what is more than a chunk above use and demand; while a record is being written, the next one does that. */
    private void lower() {
        long enough = used + awaited + chunk();
        if (covered() > enough && !isWriting) {
            set(enough);
        }
    }

    /** Submits a smaller record, which counts here at once: no unit is granted that the disk does not know as used. */
    private void set(long less) {
        written = new JournalRecord(key, window, less);
        asked = written;
        journal.write(written, () -> {});
    }

    /**
     * Submits a record of the used and awaited units and one chunk more, because other requests may use units before the
     * waiting ones are charged. Does nothing when that much is covered: a smaller record would take back units that may have
     * been granted by now.
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
