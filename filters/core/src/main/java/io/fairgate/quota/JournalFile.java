package io.fairgate.quota;

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
 * The file of a journal: a line that says what it is, then one line for each record, of which the last of a key counts.
 * Appended to and forced to the disk; rewritten when most of its lines no longer count, by the rename of a new file. That
 * leaves out usages whose last window ended longer ago than it lasted: of tenants and quotas that are gone, nobody would
 * write another line.
 *
 * <p>A crash can leave a last line without its end: nobody was given anything for it, and it is cut off. Every other line
 * was on the disk as a whole. So when one is not what was written, something else than a crash has been at the file, and
 * what that line said of whom is unknown: such a file is refused, and left as it is. To leave the line out would give again
 * what it said was used.
 */
final class JournalFile implements JournalStore {

    static final String HEADER = "fairgate usage 1";

    /** So many lines that no longer count are not worth a new file. */
    private static final int SUPERSEDED = 1000;

    private final Path path;
    private final InstantSource calendar;
    /** Read by others while it is written to. */
    private final Map<JournalRecord.Key, JournalRecord> live = new ConcurrentHashMap<>();
    /**
     * The last record of the window before that of the live one: what counts again when an operator takes out the lines
     * of a window in the future.
     */
    private final Map<JournalRecord.Key, JournalRecord> before = new LinkedHashMap<>();

    private FileChannel channel;
    /** The end of the last line that is on the disk for certain. */
    private long end;

    private int lines;
    /** From how many lines on it is rewritten, at the earliest. */
    private int enough = SUPERSEDED;
    /** Whether the name of the file leads to it for certain. */
    private boolean isNamed;

    private JournalFile(Path path, InstantSource calendar, FileChannel channel) {
        this.path = path;
        this.calendar = calendar;
        this.channel = channel;
    }

    /**
     * Opens a file, and makes it when it does not exist.
     *
     * @param calendar the wall clock, for what is over
     * @throws UnusableJournalException when it is another kind of file, or damaged
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
            throw damaged(all.size() + 1); // whole, but for its end
        }
        // Forced, because what others are given from now on follows it.
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
    public Map<JournalRecord.Key, JournalRecord> live() {
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

    /** The last window that is over may still be wanted by a clock that is set back. */
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

    /** What it does not succeed with is tried again later: all that counts is on the disk in the old file. */
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
            // As said above.
        } finally {
            if (written != null) {
                written.close();
            }
        }
    }

    /** A name is on the disk when its directory is. Not every system can open a directory; such a one does not need it. */
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
