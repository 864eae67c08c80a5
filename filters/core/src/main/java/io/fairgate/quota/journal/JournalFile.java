package io.fairgate.quota.journal;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The file of a journal: a header line, then one line for each record, of which the last one of each key counts. Lines are
 * appended and forced to the disk. When most lines no longer count, a new file is written and renamed. It leaves out usages
 * whose last window ended longer ago than it lasted: for tenants and quotas that are gone, no further line would replace
 * theirs.
 *
 * <p>A crash can leave an incomplete last line. No units were granted for it, and it is cut off. Every other line was on the
 * disk as a whole. So if another line is damaged, the cause was not a crash, and the owner and the units of that line are
 * unknown: such a file is refused and left as it is. Without the line, its units would be granted again.
 */
final class JournalFile implements JournalStore {

    static final String HEADER = "fairgate usage 1";

    /** A rewrite is considered when the file has more lines than this, and then again after as many more lines. */
    private static final int SUPERSEDED = 1000;

    private final Path path;
    private final InstantSource calendar;
    /** The last record of each key; other threads read it. */
    private final Map<UsageKey, JournalRecord> live = new ConcurrentHashMap<>();
    /**
     * For each key, the last record of the window before that of the live record. It counts again when an operator deletes the
     * lines of a window in the future.
     */
    private final Map<UsageKey, JournalRecord> before = new LinkedHashMap<>();

    private FileChannel channel;
    /** The end of the last line that is certainly on the disk. */
    private long end;

    private int lines;
    /** The number of lines above which a rewrite is considered. */
    private int enough = SUPERSEDED;
    /** Whether the directory entry of the file is certainly on the disk. */
    private boolean isNamed;

    private JournalFile(Path path, InstantSource calendar, FileChannel channel) {
        this.path = path;
        this.calendar = calendar;
        this.channel = channel;
    }

    /**
     * Opens a file, or makes it when it does not exist.
     *
     * @param calendar the wall clock, to find windows that are over
     * @throws UnusableJournalException when the file is not a journal, or is damaged
     */
    static JournalFile open(Path path, InstantSource calendar) throws IOException {
        FileChannel channel =
                FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
        JournalFile file = new JournalFile(path, calendar, channel);
        try {
            file.read(Files.readString(path, StandardCharsets.ISO_8859_1));
            return file;
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    private void read(String text) throws IOException {
        if ((HEADER + "\n").startsWith(text)) {
            append(HEADER + "\n");
            return;
        }
        List<String> all = new ArrayList<>(List.of(text.split("\n", -1)));
        String torn = all.remove(all.size() - 1);
        if (all.isEmpty() || !all.get(0).equals(HEADER)) {
            throw new UnusableJournalException(
                    "usage journal %s: not a journal (expected: a file that begins with \"%s\", or none)"
                            .formatted(path, HEADER));
        }
        for (int i = 1; i < all.size(); i++) {
            keep(intact(all.get(i), i + 1));
        }
        lines = all.size() - 1;
        end = (long) text.length() - torn.length();
        if (!torn.isEmpty() && JournalRecord.parse(torn.substring(0, torn.length() - 1)) != null) {
            throw damaged(all.size() + 1); // A complete record with a wrong last character: not left by a crash.
        }
        // Forces the file to the disk: all later records follow these lines.
        append("");
    }

    private JournalRecord intact(String line, int number) {
        JournalRecord record = JournalRecord.parse(line);
        if (record == null) {
            throw damaged(number);
        }
        return record;
    }

    private UnusableJournalException damaged(int line) {
        return new UnusableJournalException(
                "usage journal %s: line %d is damaged (expected: what was written; without the line, what it said may be given again, and without the file all)"
                        .formatted(path, line));
    }

    private void keep(JournalRecord record) {
        JournalRecord last = live.put(record.key(), record);
        if (last != null && !last.window().equals(record.window())) {
            before.put(record.key(), last);
        }
    }

    @Override
    public Map<UsageKey, JournalRecord> live() {
        return Collections.unmodifiableMap(live);
    }

    @Override
    public void write(Collection<JournalRecord> records) throws IOException {
        append(text(records));
        records.forEach(this::keep);
        lines += records.size();
        if (lines > enough) {
            enough = lines + SUPERSEDED;
            forgetWhatIsOver();
            if (lines > 2 * (live.size() + before.size())) {
                rewrite();
            }
        }
    }

    /** Forgets usages whose window ended long ago. One that ended lately is kept, because the clock may be set back. */
    private void forgetWhatIsOver() {
        long now = calendar.millis();
        live.values().removeIf(record -> record.window().endedLongBefore(now));
        before.keySet().retainAll(live.keySet());
    }

    private static String text(Collection<JournalRecord> records) {
        StringBuilder text = new StringBuilder();
        records.forEach(record -> text.append(record.line()).append('\n'));
        return text.toString();
    }

    private void append(String text) throws IOException {
        // A failed attempt may have left a part of a line.
        channel.truncate(end);
        long written = write(channel, text, end);
        if (!isNamed) {
            forceDirectory();
            isNamed = true;
        }
        end = written;
    }

    private static long write(FileChannel to, String text, long at) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.ISO_8859_1));
        long position = at;
        while (bytes.hasRemaining()) {
            position += to.write(bytes, position);
        }
        to.force(true);
        return position;
    }

    /** Replaces the file by a new one. After a failure the old file still has all that counts, and a later call tries again. */
    private void rewrite() throws IOException {
        String text = HEADER + "\n" + text(before.values()) + text(live.values());
        Path next = path.resolveSibling(path.getFileName() + ".next");
        FileChannel written = null;
        try {
            written = FileChannel.open(
                    next,
                    StandardOpenOption.CREATE,
                    StandardOpenOption.TRUNCATE_EXISTING,
                    StandardOpenOption.READ,
                    StandardOpenOption.WRITE);
            long length = write(written, text, 0);
            Files.move(next, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            FileChannel old = channel;
            channel = written;
            written = old;
            end = length;
            lines = live.size() + before.size();
            enough = SUPERSEDED;
            isNamed = false;
        } catch (IOException e) {
            // The old file stays in use.
        } finally {
            if (written != null) {
                written.close();
            }
        }
    }

    /** Forces the directory entry to the disk. A system that cannot open a directory does not need that. */
    private void forceDirectory() throws IOException {
        FileChannel directory;
        try {
            directory = FileChannel.open(path.toAbsolutePath().getParent(), StandardOpenOption.READ);
        } catch (IOException e) {
            return;
        }
        try (directory) {
            directory.force(true);
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
