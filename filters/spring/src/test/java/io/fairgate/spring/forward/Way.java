package io.fairgate.spring.forward;

import java.util.Locale;

/** The two ways of forwarding that are compared. */
enum Way {
    DIRECT,
    FILTER_CHAIN;

    /** The value of the property {@code fairgate.forwarding}. */
    String property() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
