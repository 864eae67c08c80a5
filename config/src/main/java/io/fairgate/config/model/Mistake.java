package io.fairgate.config.model;

/**
 * One thing that is wrong with a policy file.
 *
 * @param file the name of the file as the reader was given it; empty for a property
 * @param line the line, from 1; 0 for a property
 * @param key the dotted path of the key, with list indexes, such as {@code tenants.plans.free.quotas[1].per}
 * @param found what the file says; without credentials in a URI
 * @param expected what it should say
 */
public record Mistake(String file, int line, String key, String found, String expected) {
    public Mistake {
        found = Credentials.hidden(found);
        expected = Credentials.hidden(expected);
        int first = file.isEmpty() ? 0 : 1;
        if (line < first) {
            throw new IllegalArgumentException("line: %d (expected: >= %d)".formatted(line, first));
        }
    }

    /** {@code FILE:LINE: key: found (expected: …)}, on one line; without file and line for a property. */
    @Override
    public String toString() {
        String place = file.isEmpty() ? "" : "%s:%d: ".formatted(file, line);
        return "%s%s: %s (expected: %s)".formatted(place, key, found, expected);
    }
}
