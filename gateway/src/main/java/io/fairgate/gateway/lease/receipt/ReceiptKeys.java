package io.fairgate.gateway.lease.receipt;

import io.fairgate.lease.KeyedHash;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;

/**
 * The secrets that sign receipts. The first one signs, and each verifies: a secret can be replaced while it is in use.
 *
 * <p>A signed statement is {@code v1.KEY.STATEMENT.SIGNATURE}: the id of the key in hexadecimal digits, then the statement and
 * its HMAC-SHA-256 in Base64. The signature covers everything before it, so neither the version nor the key can be changed.
 */
public final class ReceiptKeys {

    private static final String PROPERTY = "fairgate.leases.receipt-key-file";
    private static final String VERSION = "v1";
    private static final int FEWEST_BYTES = 32;
    private static final int MOST_KEYS = 8;
    private static final int ID_BYTES = 4;
    private static final String EXPECTED =
            "%d random bytes or more in Base64, as from: openssl rand -base64 %d".formatted(FEWEST_BYTES, FEWEST_BYTES);

    private final List<Key> keys;

    private record Key(String id, KeyedHash hash) {
        static Key of(byte[] secret) {
            KeyedHash hash = new KeyedHash(secret);
            byte[] id = hash.of("fairgate receipt key".getBytes(StandardCharsets.US_ASCII));
            return new Key(HexFormat.of().formatHex(id, 0, ID_BYTES), hash);
        }

        /** No receipt begins like the text that the id of the key is made from. */
        byte[] signature(String text) {
            return hash.of(text.getBytes(StandardCharsets.UTF_8));
        }
    }

    private ReceiptKeys(List<Key> keys) {
        this.keys = keys;
    }

    /**
     * Reads keys that are separated by commas or white space.
     *
     * @throws IllegalArgumentException naming the number of the wrong key and what was expected, without showing the key
     */
    public static ReceiptKeys of(String text) {
        List<Key> keys = new ArrayList<>();
        for (String each : text.split("[,\\s]+", -1)) {
            if (!each.isEmpty()) {
                keys.add(Key.of(secret(each, keys.size() + 1)));
            }
        }
        if (keys.isEmpty() || keys.size() > MOST_KEYS) {
            throw new IllegalArgumentException(
                    "%d keys (expected: 1 to %d, each %s)".formatted(keys.size(), MOST_KEYS, EXPECTED));
        }
        return new ReceiptKeys(List.copyOf(keys));
    }

    private static byte[] secret(String text, int number) {
        byte[] secret;
        try {
            secret = Base64.getDecoder().decode(text.replace('-', '+').replace('_', '/'));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("key %d: not Base64 (expected: %s)".formatted(number, EXPECTED), e);
        }
        if (secret.length < FEWEST_BYTES) {
            throw new IllegalArgumentException(
                    "key %d: %d bytes (expected: %s)".formatted(number, secret.length, EXPECTED));
        }
        return secret;
    }

    /**
     * Reads a file with one key a line; lines that begin with {@code #} are comments.
     *
     * @throws InvalidConfigurationPropertyValueException when the file cannot be used
     */
    public static ReceiptKeys in(Path file) {
        try {
            return of(Files.readAllLines(file).stream()
                    .filter(line -> !line.strip().startsWith("#"))
                    .collect(Collectors.joining("\n")));
        } catch (IOException e) {
            throw unusable(file, "cannot be read (expected: a text file with one key a line): " + e);
        } catch (IllegalArgumentException e) {
            throw unusable(file, String.valueOf(e.getMessage()));
        }
    }

    private static InvalidConfigurationPropertyValueException unusable(Path file, String reason) {
        return new InvalidConfigurationPropertyValueException(PROPERTY, file, reason);
    }

    String sign(byte[] statement) {
        Key first = keys.get(0);
        String text = VERSION + "." + first.id + "." + base64(statement);
        return text + "." + base64(first.signature(text));
    }

    private static String base64(byte[] bytes) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }

    /** The statement, if it was signed with one of these keys; otherwise null. */
    byte @Nullable [] verified(String signed) {
        String[] parts = signed.split("\\.", -1);
        if (parts.length != 4 || !parts[0].equals(VERSION)) {
            return null;
        }
        String text = signed.substring(0, signed.lastIndexOf('.'));
        try {
            byte[] signature = Base64.getUrlDecoder().decode(parts[3]);
            for (Key key : keys) {
                if (key.id.equals(parts[1]) && MessageDigest.isEqual(key.signature(text), signature)) {
                    return Base64.getUrlDecoder().decode(parts[2]);
                }
            }
        } catch (IllegalArgumentException notBase64) {
            // Not signed by this server.
        }
        return null;
    }
}
