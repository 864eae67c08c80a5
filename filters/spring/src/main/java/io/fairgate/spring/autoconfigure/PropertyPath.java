package io.fairgate.spring.autoconfigure;

import io.fairgate.tenant.TenantId;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Where in Spring's properties a value stands, so that what is wrong with it can be said by its name. The records of the
 * core say {@code permits: 0 (expected: …)}; here that becomes {@code fairgate.policy.pools.orders.permits: 0 …}.
 */
record PropertyPath(String name) {

    PropertyPath at(String key) {
        return new PropertyPath(name + "." + key);
    }

    PropertyPath at(int index) {
        return new PropertyPath(name + "[" + index + "]");
    }

    /** An entry that somebody has named: names are those of the policy file. */
    PropertyPath named(String entry) {
        if (!TenantId.isWellFormed(entry) || entry.startsWith("_")) {
            throw mistake("%s (expected: 1 to %d characters of [A-Za-z0-9._-], the first not _)"
                    .formatted(entry, TenantId.MAX_LENGTH));
        }
        return at(entry);
    }

    /** What is made of the properties here; a refusal names them. */
    <T> T read(Supplier<T> made) {
        try {
            return made.get();
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(name + "." + e.getMessage(), e);
        }
    }

    /** What is made of the value itself; a refusal says what it is. */
    <T> T parsed(Supplier<T> made) {
        try {
            return made.get();
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(name + ": " + e.getMessage(), e);
        }
    }

    /** The value, which must be there. */
    <T> T required(@Nullable T value, String expected) {
        if (value == null) {
            throw mistake("nothing (expected: %s)".formatted(expected));
        }
        return value;
    }

    IllegalArgumentException mistake(String what) {
        return new IllegalArgumentException(name + ": " + what);
    }
}
