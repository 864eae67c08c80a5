package io.fairgate.config;

/**
 * Something that a policy may say and that is seldom meant.
 *
 * @param file the file as its reader was given it
 * @param line the line, from 1
 * @param key the dotted path of the key
 * @param text what follows from it
 */
public record Warning(String file, int line, String key, String text) {

    /** {@code FILE:LINE: key: warning: text}, on one line. */
    @Override
    public String toString() {
        return "%s:%d: %s: warning: %s".formatted(file, line, key, text);
    }
}
