package io.fairgate.config;

/**
 * One thing that is wrong with a policy file.
 *
 * @param file the file as its reader was given it
 * @param line the line, from 1
 * @param key the dotted path of the key, with list indexes, such as {@code tenants.plans.free.quotas[1].per}
 * @param found what the file says
 * @param expected what it should say
 */
public record Mistake(String file, int line, String key, String found, String expected) {
    public Mistake {
        if (line < 1) {
            throw new IllegalArgumentException("line: %d (expected: >= 1)".formatted(line));
        }
    }

    /** {@code FILE:LINE: key: found (expected: …)}, on one line. */
    @Override
    public String toString() {
        return "%s:%d: %s: %s (expected: %s)".formatted(file, line, key, found, expected);
    }
}
