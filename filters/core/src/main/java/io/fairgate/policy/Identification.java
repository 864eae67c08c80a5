package io.fairgate.policy;

import io.fairgate.tenant.TenantId;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How the tenant of a request is identified, and how its id is forwarded to the upstream.
 *
 * @param sources in the order in which they are tried; empty refuses every request
 * @param forwardAs the header in which the upstream gets the tenant's id; null for none
 * @param apiKeys the API keys and their tenants
 * @param certificates the names of client certificates and their tenants; a name that is itself a tenant's id needs no entry
 * @param proxies the proxies in front of the gateway
 */
public record Identification(
        List<IdentitySource> sources,
        @Nullable String forwardAs,
        ApiKeys apiKeys,
        Map<String, TenantId> certificates,
        TrustedProxies proxies) {

    public static final String DEFAULT_FORWARD_AS = "X-Tenant-Id";

    /** Without API keys, certificates and proxies, and with the usual header for the upstream. */
    public Identification(List<IdentitySource> sources) {
        this(sources, DEFAULT_FORWARD_AS, ApiKeys.NONE, Map.of(), TrustedProxies.NONE);
    }

    /**
     * Checks the settings.
     *
     * @throws IllegalArgumentException when {@code forwardAs} is not a header's name, when two sources read the same
     *     credential, when there are keys or certificates that no source reads, or when a plain header is for trusted proxies and
     *     there are none
     */
    public Identification {
        sources = List.copyOf(sources);
        certificates = Map.copyOf(certificates);
        if (forwardAs != null) {
            CredentialHeader.requireUsable("forward-as", forwardAs);
        }
        for (int i = 0; i < sources.size(); i++) {
            for (int j = 0; j < i; j++) {
                if (sources.get(i).collidesWith(sources.get(j))) {
                    throw new IllegalArgumentException(
                            "identify: %s (expected: one source for each header and scheme)".formatted(sources.get(i)));
                }
            }
        }
        if (proxies.networks().isEmpty()
                && sources.stream()
                        .anyMatch(source -> source instanceof IdentitySource.Header header && header.isForProxies())) {
            throw new IllegalArgumentException("trusted-from: nothing (expected: " + IdentitySource.Header.PEERS + ")");
        }
        if (!apiKeys.isEmpty() && sources.stream().noneMatch(IdentitySource.ApiKey.class::isInstance)) {
            throw new IllegalArgumentException("api-keys: some (expected: none, because identify has no api-key)");
        }
        if (!certificates.isEmpty() && sources.stream().noneMatch(IdentitySource.ClientCertificate.class::isInstance)) {
            throw new IllegalArgumentException(
                    "certificates: some (expected: none, because identify has no client-certificate)");
        }
    }
}
