package io.fairgate.quota.journal;

import io.fairgate.quota.CalendarWindow;
import io.fairgate.quota.QuotaOwner;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * The record of one usage in a journal.
 *
 * @param used at most this many units of the window have been granted
 */
public record JournalRecord(UsageKey key, CalendarWindow window, long used) {

    private static final Pattern LINE = Pattern.compile(
            "([0-9a-f]{8}) ((tenant|group) (\\S+) (\\S+) (\\S+) (-?[0-9]{1,19}) (-?[0-9]{1,19}) ([0-9]{1,18}))");

    String line() {
        String text = label() + " " + used;
        return checksum(text) + " " + text;
    }

    /** Owner, quota and window: the same for all records of a usage in one window. Names have no spaces to escape. */
    String label() {
        // Not String.format, which would write the digits of the locale.
        return String.join(
                " ",
                key.owner().kind().name().toLowerCase(Locale.ROOT),
                key.owner().name(),
                key.name(),
                key.window(),
                Long.toString(window.startMillis()),
                Long.toString(window.endMillis()));
    }

    /** Reads a line; null when it is damaged. */
    static @Nullable JournalRecord parse(String line) {
        Matcher parts = LINE.matcher(line);
        if (!parts.matches() || !checksum(parts.group(2)).equals(parts.group(1))) {
            return null;
        }
        QuotaOwner owner =
                new QuotaOwner(QuotaOwner.Kind.valueOf(parts.group(3).toUpperCase(Locale.ROOT)), parts.group(4));
        return new JournalRecord(
                new UsageKey(owner, parts.group(5), parts.group(6)),
                new CalendarWindow(Long.parseLong(parts.group(7)), Long.parseLong(parts.group(8))),
                Long.parseLong(parts.group(9)));
    }

    private static String checksum(String text) {
        CRC32C sum = new CRC32C();
        sum.update(text.getBytes(StandardCharsets.ISO_8859_1));
        return "%08x".formatted(sum.getValue());
    }
}
