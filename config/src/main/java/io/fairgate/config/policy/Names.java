package io.fairgate.config.policy;

import io.fairgate.config.yaml.Nearest;
import io.fairgate.config.yaml.Value;

import io.fairgate.tenant.TenantId;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Names that an operator gives to plans, pools and members: those of tenants, for the same reasons. */
final class Names {
    private Names() {}

    /** Names that begin with an underscore are the gateway's own, such as {@link TenantId#UNKNOWN}. */
    static boolean isAllowed(String name, Value value) {
        if (TenantId.isWellFormed(name) && !name.startsWith("_")) {
            return true;
        }
        value.mistake(
                "not a name", "1 to %d characters of [A-Za-z0-9._-], the first not _".formatted(TenantId.MAX_LENGTH));
        return false;
    }

    /**
     * A name that stands for something else in the file.
     *
     * @param known null when nobody can know, because what would define it is broken; then every name will do
     * @param kind what it should be the name of, for people
     * @return whether it is known; if not, a mistake is noted
     */
    static boolean isKnown(String name, @Nullable Set<String> known, Value value, String kind) {
        if (known == null || known.contains(name)) {
            return true;
        }
        value.mistake(
                known.isEmpty()
                        ? "%s of this policy, which has none".formatted(kind)
                        : "%s: %s".formatted(kind, Nearest.oneOf(name, known)));
        return false;
    }
}
