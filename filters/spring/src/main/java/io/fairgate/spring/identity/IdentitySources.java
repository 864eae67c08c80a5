package io.fairgate.spring.identity;

import io.fairgate.policy.CredentialHeader;
import io.fairgate.policy.CredentialHeader.Forwarding;
import io.fairgate.policy.IdentitySource;
import io.fairgate.policy.Policy;
import io.fairgate.policy.TenantPolicy;
import io.fairgate.spring.exchange.HeaderVariants;
import io.fairgate.spring.identity.IdentityRefusedException.Reason;
import io.fairgate.tenant.TenantId;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The identity sources of one policy: identifies tenants by them, and knows which headers the upstream must not get.
 *
 * <p>The sources are tried in order. The first one for which the request has a credential names the tenant; the other
 * credentials of the request must be valid and name the same tenant. So an invalid credential is refused even beside a
 * trusted header, and a header cannot name another tenant than the credential does.
 */
final class IdentitySources {

    private final Policy policy;
    private final List<Function<ServerWebExchange, Mono<Authentication>>> readers = new ArrayList<>();
    private final List<CredentialExtractor> removed = new ArrayList<>();
    /** Names of the headers that are removed after the filters of the route. */
    private final List<String> replaced = new ArrayList<>();

    IdentitySources(Policy policy, Authenticator.Tokens tokens) {
        this.policy = policy;
        for (IdentitySource source : policy.identification().sources()) {
            CredentialHeader header = source.header();
            CredentialExtractor extractor = header == null ? null : new CredentialExtractor(header);
            Authenticator authenticator = authenticator(source, tokens);
            readers.add(exchange -> authenticator.authenticate(new Credential(exchange, extractor)));
            if (header != null && header.forwarding() == Forwarding.REPLACED) {
                replaced.add(header.name());
            } else if (extractor != null) {
                removed.add(extractor);
            }
        }
        if (policy.identification().forwardAs() != null) {
            replaced.add(policy.identification().forwardAs());
        }
    }

    private Authenticator authenticator(IdentitySource source, Authenticator.Tokens tokens) {
        return switch (source.kind()) {
            case HEADER -> new HeaderAuthenticator((IdentitySource.Header) source);
            case API_KEY -> new ApiKeyAuthenticator(policy.identification().apiKeys());
            case JWT -> tokens.authenticator((IdentitySource.Jwt) source);
            case CLIENT_CERTIFICATE ->
                new CertificateAuthenticator(((IdentitySource.ClientCertificate) source).name(), policy);
        };
    }

    /**
     * The tenant of a request, or the reason why it has none.
     *
     * @param otherwise the tenant of a request without any credential; null refuses the request
     */
    Mono<Identity> identify(ServerWebExchange exchange, @Nullable TenantId otherwise) {
        return Flux.fromIterable(readers)
                .concatMap(reader -> reader.apply(exchange))
                .collectList()
                .map(all -> decide(all, otherwise))
                .onErrorResume(IdentityRefusedException.class, refused -> Mono.just(new Identity.Refused(refused)));
    }

    private Identity decide(List<Authentication> all, @Nullable TenantId otherwise) {
        TenantId named = all.isEmpty() ? otherwise : all.get(0).tenant();
        if (named == null) {
            return new Identity.Refused(new IdentityRefusedException(Reason.MISSING));
        }
        boolean agree = all.stream().allMatch(each -> each.tenant().equals(named));
        TenantPolicy tenant = agree ? policy.tenant(named) : null;
        if (tenant != null) {
            return new Identity.Known(tenant, named, this);
        }
        String key = all.stream()
                .map(Authentication::key)
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
        return new Identity.Refused(
                new IdentityRefusedException(agree ? Reason.UNKNOWN_TENANT : Reason.CONTRADICTION, named, key));
    }

    /** The request without the credentials that later filters, the logs and the upstream must not see. */
    ServerWebExchange strip(ServerWebExchange exchange) {
        ServerWebExchange stripped = exchange;
        for (CredentialExtractor each : removed) {
            stripped = HeaderVariants.without(stripped, each::isRemovedFrom, each::carries);
        }
        return stripped;
    }

    /** The header in which the upstream gets the tenant's id; null for none. */
    @Nullable
    String forwardAs() {
        return policy.identification().forwardAs();
    }

    /** Whether an upstream could take a header of this name for one that names the tenant. */
    boolean isTenantHeader(String name) {
        for (String header : replaced) {
            if (HeaderVariants.isSame(name, header)) {
                return true;
            }
        }
        return false;
    }
}
