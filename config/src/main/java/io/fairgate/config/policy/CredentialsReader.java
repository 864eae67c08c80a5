package io.fairgate.config.policy;

import io.fairgate.config.yaml.Section;
import io.fairgate.config.yaml.Value;
import io.fairgate.policy.ApiKeyHash;
import io.fairgate.policy.ApiKeys;
import io.fairgate.policy.IdentitySource;
import io.fairgate.tenant.TenantId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads the API keys and certificate names of members. No mistake repeats a value, which may be a key. */
final class CredentialsReader {
    private static final String DIGEST =
            "sha256: and 64 hexadecimal digits in lower case, as fairgate api-key prints them";
    private static final String NOT_SHOWN = "not shown, because it may be a key";

    private final IdentityReader.Ways ways;
    private final List<ApiKeys.Key> keys = new ArrayList<>();
    private final Map<String, TenantId> certificates = new LinkedHashMap<>();
    private final Map<String, Value> places = new HashMap<>();

    CredentialsReader(IdentityReader.Ways ways) {
        this.ways = ways;
    }

    void read(TenantId tenant, Section member) {
        Value apiKeys = member.get("api-keys");
        if (apiKeys != null && isUsed(IdentitySource.ApiKey.class, "api-key", apiKeys)) {
            List<Value> items = apiKeys.itemsOrNull();
            if (items == null) {
                apiKeys.mistake(NOT_SHOWN, "a list of digests, " + DIGEST);
            } else {
                items.forEach(item -> apiKey(tenant, item));
            }
        }
        Value names = member.get("certificates");
        if (names != null && isUsed(IdentitySource.ClientCertificate.class, "client-certificate", names)) {
            for (Value item : member.items("certificates")) {
                String name = item.text("a name in a certificate");
                if (name != null && isFirst("name " + name, item, name)) {
                    certificates.put(name, tenant);
                }
            }
        }
    }

    /** If one of the ways has a mistake, members may have credentials of any kind. */
    private boolean isUsed(Class<? extends IdentitySource> way, String name, Value credentials) {
        boolean isUsed = !ways.complete() || ways.sources().stream().anyMatch(way::isInstance);
        if (!isUsed) {
            credentials.mistake("not used", "%s in tenants.identify, or no such credentials".formatted(name));
        }
        return isUsed;
    }

    private void apiKey(TenantId tenant, Value item) {
        try {
            String text = item.scalar();
            ApiKeyHash hash = ApiKeyHash.parse(text == null ? "" : text);
            if (isFirst(hash.hex(), item, hash)) {
                keys.add(new ApiKeys.Key(hash, tenant));
            }
        } catch (IllegalArgumentException e) {
            item.mistake(NOT_SHOWN, DIGEST);
        }
    }

    private boolean isFirst(String what, Value item, Object shown) {
        Value first = places.putIfAbsent(what, item);
        if (first != null) {
            item.mistake(shown.toString(), "each only once; %s has it already".formatted(first.fullPlace()));
        }
        return first == null;
    }

    ApiKeys apiKeys() {
        return ApiKeys.of(keys);
    }

    Map<String, TenantId> certificates() {
        return certificates;
    }
}
