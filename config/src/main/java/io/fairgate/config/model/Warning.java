package io.fairgate.config.model;

/**
 * A value that a policy may have but that is rarely intended.
 *
 * @param file the name of the file as the reader was given it; empty for a property
 * @param line the line, from 1; 0 for a property
 * @param key the dotted path of the key
 * @param text the consequence of the value
 */
public record Warning(String file, int line, String key, String text) {
    public Warning {
        text = Credentials.hidden(text);
    }

    /** {@code FILE:LINE: key: warning: text}, on one line; without file and line for a property. */
    @Override
    public String toString() {
        String place = file.isEmpty() ? "" : "%s:%d: ".formatted(file, line);
        return "%s%s: warning: %s".formatted(place, key, text);
    }
}
