package io.fairgate.spring.settings;

import io.fairgate.time.DurationText;
import java.time.Duration;

/**
 * A duration in Spring's properties, written as in the policy file: {@code 250ms}, {@code 1s}, {@code 5m}. A number
 * alone is refused: Spring would read 60 as 60 milliseconds, which is not intended here.
 */
public record DurationSetting(Duration value) {

    /**
     * Reads the text of a property. Spring calls this.
     *
     * @throws IllegalArgumentException saying what was expected
     */
    public static DurationSetting of(String text) {
        Duration value = DurationText.parse(text);
        if (value == null) {
            throw new IllegalArgumentException(
                    "%s (expected: %s)".formatted(text.isEmpty() ? "nothing" : text, DurationText.EXPECTED));
        }
        return new DurationSetting(value);
    }
}
