package io.fairgate.gateway.throttle.policy;

import io.fairgate.gateway.http.Bytes;
import io.fairgate.gateway.http.HttpProblem;
import io.fairgate.policy.IdentitySource;
import java.util.Base64;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.web.server.ServerWebExchange;

/**
 * User information of a client whose server address is {@code http://tenant:secret@host} (RFC 7617): a tenant, and one of its
 * API keys, or an empty secret.
 */
record UserInfo(String tenant, String secret) {

    private static final String SCHEME = "Basic";

    /** Null when the request has none. Throws {@link HttpProblem} when it is malformed. */
    static @Nullable UserInfo of(HttpHeaders headers) {
        List<String> values = headers.getOrEmpty(HttpHeaders.AUTHORIZATION);
        if (values.stream().noneMatch(UserInfo::isBasic)) {
            return null;
        }
        String text = values.size() == 1 ? decoded(values.get(0).substring(SCHEME.length())) : null;
        int colon = text == null ? -1 : text.indexOf(':');
        if (text == null || colon < 0) {
            throw HttpProblem.badRequest("Authorization", "malformed", "one value: Basic, and tenant:secret in Base64");
        }
        return new UserInfo(text.substring(0, colon), text.substring(colon + 1));
    }

    private static boolean isBasic(String value) {
        return value.regionMatches(true, 0, SCHEME, 0, SCHEME.length())
                && (value.length() == SCHEME.length() || value.charAt(SCHEME.length()) == ' ');
    }

    private static @Nullable String decoded(String base64) {
        try {
            return Bytes.text(Base64.getDecoder().decode(base64.strip()));
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    /**
     * The request in the form that the policy's identification expects: a secret becomes an API key; a name without a secret
     * becomes a header that names the tenant.
     */
    ServerWebExchange shownTo(List<IdentitySource> ways, ServerWebExchange exchange) {
        for (IdentitySource way : ways) {
            if (way instanceof IdentitySource.ApiKey key && !secret.isEmpty()) {
                String scheme = key.header().scheme();
                return with(exchange, key.header().name(), scheme == null ? secret : scheme + " " + secret);
            }
            if (way instanceof IdentitySource.Header header && secret.isEmpty()) {
                return with(exchange, header.header().name(), tenant);
            }
        }
        throw new HttpProblem(
                401,
                "invalid-key",
                "The policy has no identification for this (expected: api-key for a secret, header for a name without a secret).");
    }

    /** Added to any value that the client sent in this header: a client may identify itself in one way only. */
    private static ServerWebExchange with(ServerWebExchange exchange, String header, String value) {
        return exchange.mutate()
                .request(request -> request.headers(headers -> {
                    headers.remove(HttpHeaders.AUTHORIZATION);
                    headers.add(header, value);
                }))
                .build();
    }
}
