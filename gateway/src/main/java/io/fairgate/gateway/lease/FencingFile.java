package io.fairgate.gateway.lease;

import io.fairgate.lease.FencingTokens;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;

/**
 * Keeps the mark of the fencing tokens in a file: a line with a number and its checksum, at two places that are written in
 * turn. If the machine fails while it writes one place, the other is intact.
 *
 * <p>The file is locked until it is closed, so only one process can use it.
 */
final class FencingFile implements FencingTokens.Mark, AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(FencingFile.class);

    /** The distance between the places, so that no disk writes both together. */
    private static final int PLACE_BYTES = 4096;

    private static final int PLACES = 2;
    private static final Pattern LINE = Pattern.compile("(\\d{19}) ([0-9a-f]{8})\\n");
    private static final int LINE_BYTES = 29;

    private final Path path;
    private final FileChannel file;
    private int next;
    private boolean isFailing;

    private FencingFile(Path path, FileChannel file) {
        this.path = path;
        this.file = file;
    }

    /** @throws InvalidConfigurationPropertyValueException when the file cannot be used */
    static FencingFile open(Path path) {
        try {
            FileChannel file = FileChannel.open(
                    path, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
            if (isLocked(file)) {
                return new FencingFile(path, file);
            }
            file.close();
            throw unusable(path, "in use already (expected: one process for each file)");
        } catch (IOException e) {
            throw unusable(path, "cannot be opened: " + e);
        }
    }

    private static boolean isLocked(FileChannel file) throws IOException {
        try {
            return file.tryLock() != null;
        } catch (OverlappingFileLockException ofThisProcess) {
            return false;
        }
    }

    private static InvalidConfigurationPropertyValueException unusable(Path path, String reason) {
        return new InvalidConfigurationPropertyValueException(LeaseSettings.PREFIX + ".fencing-file", path, reason);
    }

    @Override
    public synchronized long read() throws IOException {
        long highest = 0;
        boolean isReadable = file.size() == 0;
        for (int place = 0; place < PLACES; place++) {
            long mark = read(place);
            if (mark > highest) {
                highest = mark;
                next = (place + 1) % PLACES;
                isReadable = true;
            }
        }
        if (!isReadable) {
            throw unusable(path, "not a fencing file (expected: a file that Fairgate has written, or no file)");
        }
        return highest;
    }

    /** 0 when the place has no line, or an incomplete one. */
    private long read(int place) throws IOException {
        ByteBuffer line = ByteBuffer.allocate(LINE_BYTES);
        while (line.hasRemaining() && file.read(line, (long) place * PLACE_BYTES + line.position()) > 0) {
            // Continues where the last read ended.
        }
        Matcher found = LINE.matcher(new String(line.array(), 0, line.position(), StandardCharsets.US_ASCII));
        return found.matches() && checksum(found.group(1)).equals(found.group(2)) ? Long.parseLong(found.group(1)) : 0;
    }

    private static String checksum(String digits) {
        CRC32 crc = new CRC32();
        crc.update(digits.getBytes(StandardCharsets.US_ASCII));
        return "%08x".formatted(crc.getValue());
    }

    @Override
    public synchronized void write(long mark) throws IOException {
        String digits = "%019d".formatted(mark);
        ByteBuffer line =
                ByteBuffer.wrap("%s %s\n".formatted(digits, checksum(digits)).getBytes(StandardCharsets.US_ASCII));
        try {
            long start = (long) next * PLACE_BYTES;
            while (line.hasRemaining()) {
                file.write(line, start + line.position());
            }
            file.force(true);
            next = (next + 1) % PLACES;
            report(null);
        } catch (IOException e) {
            report(e);
            throw e;
        }
    }

    private void report(@Nullable IOException failure) {
        if (failure != null && !isFailing) {
            log.error(
                    "The fencing file {} cannot be written: {}. Until it can, tokens do not follow the clock.",
                    path,
                    failure.toString());
        } else if (failure == null && isFailing) {
            log.info("The fencing file {} is written again.", path);
        }
        isFailing = failure != null;
    }

    @Override
    public synchronized void close() throws IOException {
        file.close();
    }
}
