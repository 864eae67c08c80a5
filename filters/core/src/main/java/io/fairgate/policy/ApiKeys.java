package io.fairgate.policy;

import io.fairgate.tenant.TenantId;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The API keys of all tenants, found by the id of their digest. Several may be valid at once for one tenant, so that a
 * new one can be handed out before the old one ends.
 *
 * @param byId the keys that share an id; almost always one
 */
public record ApiKeys(Map<String, List<Key>> byId) {

    /** Nobody has one. */
    public static final ApiKeys NONE = new ApiKeys(Map.of());

    /** A key and whose it is. */
    public record Key(ApiKeyHash hash, TenantId tenant) {}

    public ApiKeys {
        Map<String, List<Key>> copy = new LinkedHashMap<>();
        byId.forEach((id, keys) -> copy.put(id, List.copyOf(keys)));
        byId = Map.copyOf(copy);
    }

    /**
     * The keys, by their ids.
     *
     * @throws IllegalArgumentException when two are the same: a key says who somebody is, so it has one owner
     */
    public static ApiKeys of(List<Key> keys) {
        Map<String, List<Key>> byId = new LinkedHashMap<>();
        for (Key key : keys) {
            List<Key> same = byId.computeIfAbsent(key.hash().id(), id -> new ArrayList<>());
            for (Key other : same) {
                if (other.hash().equals(key.hash())) {
                    throw new IllegalArgumentException("api-keys: %s of %s and of %s (expected: each key once)"
                            .formatted(key.hash(), other.tenant(), key.tenant()));
                }
            }
            same.add(key);
        }
        return new ApiKeys(byId);
    }

    /** Whose key this is; null when it is nobody's. Takes the same time whichever digits of a digest differ. */
    public @Nullable TenantId owner(ApiKeyHash presented) {
        TenantId owner = null;
        for (Key key : byId.getOrDefault(presented.id(), List.of())) {
            // No early end: how long it takes is not to tell which one it was.
            if (key.hash().isSameAs(presented)) {
                owner = key.tenant();
            }
        }
        return owner;
    }

    public boolean isEmpty() {
        return byId.isEmpty();
    }
}
