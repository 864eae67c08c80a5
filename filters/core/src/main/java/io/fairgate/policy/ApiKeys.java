package io.fairgate.policy;

import io.fairgate.tenant.TenantId;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The API keys of all tenants, found by the id of their digest. A tenant may have several valid keys, so that it can get a
 * new one before the old one is removed.
 *
 * @param byId the keys with each id; almost always one
 */
public record ApiKeys(Map<String, List<Key>> byId) {

    /** No keys. */
    public static final ApiKeys NONE = new ApiKeys(Map.of());

    /** A key and the tenant that it identifies. */
    public record Key(ApiKeyHash hash, TenantId tenant) {}

    public ApiKeys {
        Map<String, List<Key>> copy = new HashMap<>();
        byId.forEach((id, keys) -> copy.put(id, List.copyOf(keys)));
        byId = Map.copyOf(copy);
    }

    /**
     * Sorts the keys by their ids.
     *
     * @throws IllegalArgumentException when a key occurs twice: a key identifies one tenant
     */
    public static ApiKeys of(List<Key> keys) {
        Map<ApiKeyHash, TenantId> owners = new HashMap<>();
        for (Key key : keys) {
            TenantId other = owners.putIfAbsent(key.hash(), key.tenant());
            if (other != null) {
                throw new IllegalArgumentException("api-keys: %s of %s and of %s (expected: each key once)"
                        .formatted(key.hash(), other, key.tenant()));
            }
        }
        return new ApiKeys(
                keys.stream().collect(Collectors.groupingBy(key -> key.hash().id())));
    }

    /** The tenant of a key; null when no tenant has it. Takes the same time whichever digits of a digest differ. */
    public @Nullable TenantId owner(ApiKeyHash presented) {
        TenantId owner = null;
        for (Key key : byId.getOrDefault(presented.id(), List.of())) {
            // No early end: the time must not reveal which key matched.
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
