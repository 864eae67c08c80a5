package io.fairgate.config.yaml;

/**
 * The message with which a record of the core refuses a value: {@code key: found (expected: …)}.
 *
 * @param key empty when the message names none
 */
public record InvalidValue(String key, String found, String expected) {
    private static final String EXPECTED = " (expected: ";

    public static InvalidValue of(IllegalArgumentException refused) {
        String message = String.valueOf(refused.getMessage());
        int expected = message.lastIndexOf(EXPECTED);
        if (expected < 0 || !message.endsWith(")")) {
            return new InvalidValue("", message, "a value that the gateway accepts");
        }
        int colon = message.indexOf(": ");
        boolean hasKey = colon >= 0 && colon < expected;
        return new InvalidValue(
                hasKey ? message.substring(0, colon) : "",
                message.substring(hasKey ? colon + 2 : 0, expected),
                message.substring(expected + EXPECTED.length(), message.length() - 1));
    }
}
