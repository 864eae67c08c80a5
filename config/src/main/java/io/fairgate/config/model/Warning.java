package io.fairgate.config.model;

/**
 * Something that a policy may say and that is seldom meant.
 *
 * @param file the file as its reader was given it; empty for a property
 * @param line the line, from 1; 0 for a property
 * @param key the dotted path of the key
 * @param text what follows from it
 */
public record Warning(String file, int line, String key, String text) {

    /** {@code FILE:LINE: key: warning: text}, on one line; of a property without its place. */
    @Override
    public String toString() {
        String place = file.isEmpty() ? "" : "%s:%d: ".formatted(file, line);
        return "%s%s: warning: %s".formatted(place, key, text);
    }
}
