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

/**
 * Reads the API keys and the certificate names of all members. A value that is not a digest may be the key itself, so
 * no mistake repeats it.
 */
final class CredentialsReader {
    private static final String DIGESTS =
            "a list of digests, sha256: and 64 hexadecimal digits in lower case, as fairgate api-key prints them";
    private static final String NOT_SHOWN = "not shown, because it may be a key";

    private final boolean keysCount;
    private final boolean certificatesCount;
    private final List<ApiKeys.Key> keys = new ArrayList<>();
    private final Map<String, TenantId> certificates = new LinkedHashMap<>();
    private final Map<String, Value> places = new HashMap<>();

    /**
     * @param ways the ways of {@code tenants.identify}; if one of them has a mistake, members may have credentials of
     *     any kind
     */
    CredentialsReader(IdentityReader.Ways ways) {
        keysCount = !ways.complete() || ways.sources().stream().anyMatch(IdentitySource.ApiKey.class::isInstance);
        certificatesCount = !ways.complete()
                || ways.sources().stream().anyMatch(IdentitySource.ClientCertificate.class::isInstance);
    }

    void read(TenantId tenant, Section member) {
        Value apiKeys = member.get("api-keys");
        if (apiKeys != null) {
            if (keysCount) {
                apiKeys(tenant, apiKeys);
            } else {
                apiKeys.mistake("would be ignored", "a way by api-key in tenants.identify, or no keys");
            }
        }
        Value names = member.get("certificates");
        if (names != null) {
            if (certificatesCount) {
                certificates(tenant, names);
            } else {
                names.mistake("would be ignored", "a way by client-certificate in tenants.identify, or no names");
            }
        }
    }

    private void apiKeys(TenantId tenant, Value value) {
        if (!value.isList()) {
            value.mistake(NOT_SHOWN, DIGESTS);
            return;
        }
        List<Value> items = value.items(DIGESTS);
        for (Value item : items == null ? List.<Value>of() : items) {
            try {
                String text = item.scalar();
                ApiKeyHash hash = ApiKeyHash.parse(text == null ? "" : text);
                if (isFirst(hash.hex(), item, hash)) {
                    keys.add(new ApiKeys.Key(hash, tenant));
                }
            } catch (IllegalArgumentException e) {
                item.mistake(
                        NOT_SHOWN, "sha256: and 64 hexadecimal digits in lower case, as fairgate api-key prints them");
            }
        }
    }

    private void certificates(TenantId tenant, Value value) {
        String expected = "a list of names in certificates, such as spiffe://example.com/acme";
        List<Value> items = value.items(expected);
        for (Value item : items == null ? List.<Value>of() : items) {
            String name = item.text("a name in a certificate");
            if (name != null && isFirst("name " + name, item, name)) {
                certificates.put(name, tenant);
            }
        }
    }

    private boolean isFirst(String what, Value item, Object shown) {
        Value first = places.putIfAbsent(what, item);
        if (first != null) {
            item.mistake(shown.toString(), "each one once; %s has it already".formatted(first.fullPlace()));
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
