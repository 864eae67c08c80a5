package io.fairgate.spring;

import java.util.Locale;

/** How the names of constants are written outside: {@code UNKNOWN_TENANT} as {@code unknown-tenant}. */
final class Labels {

    private Labels() {}

    static String of(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
