package io.fairgate.quota;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The file of a journal: a line that says what it is, then one line for each record, of which the last of a key counts.
 * Appended to and forced to the disk; rewritten when most of its lines no longer count, by the rename of a new file. Used
 * by one thread at a time.
 */
final class JournalFile implements AutoCloseable {

    static final String HEADER = "fairgate usage 1";

    /** So many lines that no longer count are not worth a new file. */
    private static final int SUPERSEDED = 1000;

    private final Path path;
    private final Map<JournalRecord.Key, JournalRecord> live = new LinkedHashMap<>();
    private FileChannel channel;
    /** The end of the last line that is on the disk for certain. */
    private long end;

    private int lines;

    private JournalFile(Path path, FileChannel channel) {
        this.path = path;
        this.channel = channel;
    }

    /**
     * Opens a file, and makes it when it does not exist.
     *
     * @throws UnusableJournalException when it is another kind of file, or damaged before its end
     */
    static JournalFile open(Path path) throws IOException {
        FileChannel channel =
                FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
        JournalFile file = new JournalFile(path, channel);
        try {
            file.read(Files.readString(path, StandardCharsets.ISO_8859_1));
            return file;
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    private void read(String text) throws IOException {
        if (text.isEmpty() || (HEADER + "\n").startsWith(text)) {
            channel.truncate(0);
            append(HEADER + "\n");
            return;
        }
        List<String> all = new ArrayList<>(List.of(text.split("\n", -1)));
        // What follows the last line end was cut off while it was written, and nobody was given anything for it.
        all.remove(all.size() - 1);
        if (all.isEmpty() || !all.get(0).equals(HEADER)) {
            throw new UnusableJournalException(
                    "usage journal %s: not a journal (expected: a file that begins with \"%s\", or none)"
                            .formatted(path, HEADER));
        }
        end = HEADER.length() + 1L;
        int damaged = 0;
        for (int i = 1; i < all.size(); i++) {
            JournalRecord record = JournalRecord.parse(all.get(i));
            if (record == null) {
                damaged = damaged == 0 ? i + 1 : damaged;
            } else if (damaged > 0) {
                throw new UnusableJournalException(
                        "usage journal %s: line %d is damaged (expected: what was written; move the file away to begin with nothing used)"
                                .formatted(path, damaged));
            } else {
                live.put(record.key(), record);
                end += all.get(i).length() + 1L;
                lines++;
            }
        }
        channel.truncate(end);
    }

    /** The last record of each key. */
    Map<JournalRecord.Key, JournalRecord> live() {
        return Map.copyOf(live);
    }

    /** Returns when all of them are on the disk; after a failure, none of them counts. */
    void write(List<JournalRecord> records) throws IOException {
        StringBuilder text = new StringBuilder();
        records.forEach(record -> text.append(record.line()).append('\n'));
        append(text.toString());
        records.forEach(record -> live.put(record.key(), record));
        lines += records.size();
        if (lines > SUPERSEDED + 2 * live.size()) {
            rewrite();
        }
    }

    private void append(String text) throws IOException {
        // A failed attempt may have left a part of a line.
        channel.truncate(end);
        end = write(channel, text, end);
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

    private void rewrite() throws IOException {
        StringBuilder text = new StringBuilder(HEADER).append('\n');
        live.values().forEach(record -> text.append(record.line()).append('\n'));
        Path next = path.resolveSibling(path.getFileName() + ".next");
        FileChannel written = FileChannel.open(
                next,
                StandardOpenOption.CREATE,
                StandardOpenOption.TRUNCATE_EXISTING,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE);
        try {
            long length = write(written, text.toString(), 0);
            Files.move(next, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            forceDirectory();
            channel.close();
            channel = written;
            end = length;
            lines = live.size();
        } catch (IOException e) {
            written.close();
            throw e;
        }
    }

    /** A rename is on the disk when its directory is. Not every system can open a directory; then it does not need it. */
    private void forceDirectory() {
        Path directory = path.toAbsolutePath().getParent();
        try (FileChannel entries = FileChannel.open(directory, StandardOpenOption.READ)) {
            entries.force(true);
        } catch (IOException e) {
            // Whichever of the two files is found after a crash, its records are true.
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
