package io.fairgate.spring.identity;

import io.fairgate.policy.Identification;
import io.fairgate.policy.IdentitySource;
import io.fairgate.spring.exchange.HeaderAlias;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.web.server.ServerWebExchange;

/**
 * Removes credentials from a request, unless the policy forwards them, so that the filters behind the admission, the
 * logs and the upstream do not see them. {@link UpstreamIdentity} sets the header that names the tenant to the
 * upstream, after all other filters of headers.
 */
final class CredentialHeaders {

    private CredentialHeaders() {}

    static ServerWebExchange strip(ServerWebExchange exchange, Identification by) {
        ServerWebExchange stripped = exchange;
        for (IdentitySource source : by.sources()) {
            Credential credential = credential(source);
            if (credential != null && credential.isIn(stripped.getRequest().getHeaders())) {
                stripped = stripped.mutate()
                        .request(request -> request.headers(credential::removeFrom))
                        .build();
            }
        }
        return stripped;
    }

    private static @Nullable Credential credential(IdentitySource source) {
        if (source instanceof IdentitySource.ApiKey key) {
            return new Credential(new CredentialField(key.header(), key.scheme()), key.forward());
        } else if (source instanceof IdentitySource.Jwt token) {
            return new Credential(new CredentialField(token.header(), token.scheme()), token.forward());
        } else {
            return null;
        }
    }

    /**
     * The values that the upstream must not get: the credential, unless it is forwarded, and in either case such values
     * in headers that the upstream may take for this one, because nothing has verified those.
     */
    private record Credential(CredentialField field, boolean forwarded) {

        private boolean isIn(HttpHeaders headers) {
            return headers.headerNames().stream().anyMatch(this::isNamed);
        }

        private boolean isNamed(String name) {
            return HeaderAlias.isSame(name, field.header()) && !(forwarded && name.equalsIgnoreCase(field.header()));
        }

        private void removeFrom(HttpHeaders headers) {
            for (String name : List.copyOf(headers.headerNames())) {
                if (isNamed(name)) {
                    List<String> others = headers.getOrDefault(name, List.of()).stream()
                            .filter(value -> !field.carries(value))
                            .toList();
                    headers.remove(name);
                    headers.addAll(name, others);
                }
            }
        }
    }
}
