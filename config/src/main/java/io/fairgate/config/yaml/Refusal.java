package io.fairgate.config.yaml;

/**
 * The message with which a record of the core refuses a value: {@code key: found (expected: …)}.
 *
 * @param key empty when the message names none
 */
public record Refusal(String key, String found, String expected) {
    private static final String EXPECTED = " (expected: ";

    public static Refusal of(IllegalArgumentException refused) {
        String message = String.valueOf(refused.getMessage());
        int expected = message.lastIndexOf(EXPECTED);
        if (expected < 0 || !message.endsWith(")")) {
            return new Refusal("", message, "a value that the gateway accepts");
        }
        String head = message.substring(0, expected);
        int colon = head.indexOf(": ");
        return new Refusal(
                colon < 0 ? "" : head.substring(0, colon),
                colon < 0 ? head : head.substring(colon + 2),
                message.substring(expected + EXPECTED.length(), message.length() - 1));
    }
}
