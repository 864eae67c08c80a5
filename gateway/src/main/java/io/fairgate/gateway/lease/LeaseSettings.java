package io.fairgate.gateway.lease;

import io.fairgate.gateway.lease.receipt.ReceiptKeys;
import io.fairgate.spring.settings.DurationSetting;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * {@code fairgate.leases}: the settings of the lease port.
 *
 * @param enabled whether the lease API is served
 * @param restoreWindow for how long after the start holders may restore what they held before
 * @param fencingFile keeps a number above all fencing tokens that were given out; null relies on the clock
 * @param receiptKeyFile has the keys that sign receipts, one a line; null when there is no such file
 * @param receiptKey the same keys, separated by commas or white space; null when they are in a file, or there are none
 * @param maxOpen the most leases at one time, including those that wait
 * @param throttle whether throttle's clients are served as well
 */
@ConfigurationProperties(LeaseSettings.PREFIX)
public record LeaseSettings(
        @DefaultValue("false") boolean enabled,
        @DefaultValue("8000") int port,
        @DefaultValue("127.0.0.1") InetAddress address,
        @DefaultValue("5m") DurationSetting restoreWindow,
        @Nullable Path fencingFile,
        @Nullable Path receiptKeyFile,
        @Nullable HiddenText receiptKey,
        @DefaultValue("100000") int maxOpen,
        @DefaultValue Throttle throttle) {

    public static final String PREFIX = "fairgate.leases";
    public static final String THROTTLE = PREFIX + ".throttle";

    /**
     * Throttle's protocol, on the same port.
     *
     * @param enabled whether it is served; it opens the port even if {@link LeaseSettings#enabled} is false
     * @param defaultTenant the tenant of a request without identification; null refuses such requests
     * @param levels the levels of pools in the lock hierarchy, by name, as written; 0 for pools without an entry
     */
    public record Throttle(
            @DefaultValue("false") boolean enabled,
            @Nullable String defaultTenant,
            @DefaultValue Map<String, String> levels) {

        /** @throws IllegalArgumentException naming the invalid level, what was found and what was expected */
        public Throttle {
            levels = Map.copyOf(levels);
            levels.forEach(Throttle::number);
        }

        public Map<String, Integer> numbers() {
            return levels.entrySet().stream()
                    .collect(Collectors.toMap(Map.Entry::getKey, each -> number(each.getKey(), each.getValue())));
        }

        private static int number(String pool, String level) {
            try {
                return Integer.parseInt(level.strip());
            } catch (NumberFormatException e) {
                throw new IllegalArgumentException(
                        THROTTLE + ".levels.%s: %s (expected: a whole number of 32 bits)".formatted(pool, level));
            }
        }
    }

    private static final int LAST_PORT = 65_535;

    /** @throws IllegalArgumentException naming the setting, what was found and what was expected */
    public LeaseSettings {
        fencingFile = fencingFile == null || fencingFile.toString().isEmpty() ? null : fencingFile;
        receiptKeyFile = receiptKeyFile == null || receiptKeyFile.toString().isEmpty() ? null : receiptKeyFile;
        requireReceiptKeys(receiptKeyFile, receiptKey);
        if (port < 0 || port > LAST_PORT) {
            throw new IllegalArgumentException(PREFIX + ".port: %d (expected: 0 to %d)".formatted(port, LAST_PORT));
        }
        if (restoreWindow.value().isNegative()) {
            throw new IllegalArgumentException(
                    PREFIX + ".restore-window: %s (expected: >= 0)".formatted(restoreWindow.value()));
        }
        if (maxOpen < 1) {
            throw new IllegalArgumentException(PREFIX + ".max-open: %d (expected: >= 1)".formatted(maxOpen));
        }
    }

    private static void requireReceiptKeys(@Nullable Path file, @Nullable HiddenText keys) {
        if (keys == null) {
            return;
        }
        if (file != null) {
            throw new IllegalArgumentException(
                    PREFIX + ".receipt-key: set beside receipt-key-file (expected: one of them)");
        }
        try {
            ReceiptKeys.of(keys.value());
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(PREFIX + ".receipt-key: " + e.getMessage());
        }
    }

    /** The keys that sign receipts; null when no receipts are issued. */
    @Nullable
    ReceiptKeys receiptKeys() {
        if (receiptKeyFile != null) {
            return ReceiptKeys.in(receiptKeyFile);
        }
        return receiptKey == null ? null : ReceiptKeys.of(receiptKey.value());
    }
}
