package io.fairgate.config.policy;

import io.fairgate.config.yaml.Section;
import io.fairgate.config.yaml.Suggestions;
import io.fairgate.config.yaml.Value;
import io.fairgate.tenant.TenantId;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Names of plans, pools and members. The rules are those of tenant ids, for the same reasons. */
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

    /** The text of a key that refers to something that the file defines; null when it has none, or an unknown one. */
    static @Nullable String reference(Section section, String key, @Nullable Set<String> known, String kind) {
        Value value = section.get(key);
        String name = section.text(key);
        return value != null && name != null && isKnown(name, known, value, kind) ? name : null;
    }

    /**
     * Checks a reference to something that the file defines.
     *
     * @param known the names that are defined; null when the definition is broken, and then every name is accepted
     * @param kind what the name refers to, for the mistake
     * @return whether it is known; if not, a mistake is noted
     */
    static boolean isKnown(String name, @Nullable Set<String> known, Value value, String kind) {
        if (known == null || known.contains(name)) {
            return true;
        }
        String shown = value.shown().startsWith("\"") ? value.shown() : '"' + value.shown() + '"';
        value.mistake(
                "unknown %s %s".formatted(kind, shown),
                known.isEmpty()
                        ? "no %s, because the policy defines none".formatted(kind)
                        : Suggestions.oneOf(name, known));
        return false;
    }
}
