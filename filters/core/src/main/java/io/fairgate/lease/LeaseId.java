package io.fairgate.lease;

import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The id of a lease: 128 bits. An id alone gives no access over the lease API, which also checks the tenant; it is random all
 * the same, so that ids do not reveal the number of leases.
 */
public record LeaseId(long high, long low) {

    private static final int DIGITS = 32;
    private static final Pattern TEXT = Pattern.compile("[0-9a-f]{" + DIGITS + "}");

    private static final SecureRandom RANDOM = new SecureRandom();

    public static LeaseId random() {
        return new LeaseId(RANDOM.nextLong(), RANDOM.nextLong());
    }

    /** Reads 32 hexadecimal digits in lower case; null for any other text. */
    public static @Nullable LeaseId parse(String text) {
        if (!TEXT.matcher(text).matches()) {
            return null;
        }
        return new LeaseId(
                HexFormat.fromHexDigitsToLong(text, 0, DIGITS / 2),
                HexFormat.fromHexDigitsToLong(text, DIGITS / 2, DIGITS));
    }

    /** 32 hexadecimal digits. */
    @Override
    public String toString() {
        HexFormat hex = HexFormat.of();
        return hex.toHexDigits(high) + hex.toHexDigits(low);
    }
}
