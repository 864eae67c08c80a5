package io.fairgate.gateway.log;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

/**
 * {@code fairgate.log-files}: the output of the audit log and the access log.
 *
 * @param directory the directory of {@code audit.log} and {@code access.log}, which must exist; null for stdout
 * @param maxSize of one file; when it is reached, a new file begins, as it does every day
 * @param keepDays for how many days old files are kept, compressed
 * @param maxTotal of all old files of one log; the oldest are deleted first
 */
public record LogFiles(
        @Nullable Path directory,
        @DefaultValue("100MB") DataSize maxSize,
        @DefaultValue("30") int keepDays,
        @DefaultValue("10GB") DataSize maxTotal) {

    public static final String PREFIX = "fairgate.log-files";

    public LogFiles {
        directory = directory == null || directory.toString().isEmpty() ? null : directory;
        if (maxSize.toBytes() < 1) {
            throw new IllegalArgumentException(PREFIX + ".max-size: %s (expected: more than 0)".formatted(maxSize));
        }
        if (keepDays < 1) {
            throw new IllegalArgumentException(PREFIX + ".keep-days: %d (expected: >= 1)".formatted(keepDays));
        }
        if (maxTotal.compareTo(maxSize) < 0) {
            throw new IllegalArgumentException(
                    PREFIX + ".max-total: %s (expected: at least max-size, %s)".formatted(maxTotal, maxSize));
        }
    }
}
