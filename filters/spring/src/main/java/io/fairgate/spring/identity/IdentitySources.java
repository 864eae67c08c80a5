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
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/**
 * The identity sources of one policy: identifies tenants by them, and knows which headers the upstream must not get.
 *
 * <p>The sources are tried in order. The first one for which the request has a credential names the tenant; the other
 * credentials of the request must be valid and name the same tenant. So an invalid credential is refused even beside a
 * trusted header, and a header cannot name another tenant than the credential does.
 */
public final class IdentitySources {

    private final Policy policy;
    private final List<Reader> readers = new ArrayList<>();
    private final List<CredentialExtractor> removed = new ArrayList<>();
    /** Names of the headers that are removed after the filters of the route. */
    private final List<String> replaced = new ArrayList<>();

    /** @param extractor null for a source that reads no header */
    private record Reader(
            Authenticator authenticator, @Nullable CredentialExtractor extractor) {
        Mono<Authentication> read(ServerWebExchange exchange) {
            return authenticator.authenticate(new Credential(exchange, extractor));
        }
    }

    IdentitySources(Policy policy, Authenticator.Tokens tokens, Authenticator.Beans beans) {
        this.policy = policy;
        for (IdentitySource source : policy.identification().sources()) {
            CredentialHeader header = source.header();
            CredentialExtractor extractor = header == null ? null : new CredentialExtractor(header);
            Authenticator authenticator = authenticator(source, tokens, beans);
            readers.add(new Reader(authenticator, extractor));
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

    private Authenticator authenticator(IdentitySource source, Authenticator.Tokens tokens, Authenticator.Beans beans) {
        return switch (source.kind()) {
            case HEADER ->
                new HeaderAuthenticator(
                        (IdentitySource.Header) source, policy.identification().proxies());
            case API_KEY -> new ApiKeyAuthenticator(policy.identification().apiKeys());
            case JWT -> tokens.authenticator((IdentitySource.Jwt) source);
            case CLIENT_CERTIFICATE ->
                new CertificateAuthenticator(((IdentitySource.ClientCertificate) source).name(), policy);
            case BEAN -> beans.authenticator((IdentitySource.Bean) source);
        };
    }

    /**
     * The tenant of a request, or the reason why it has none; at once, unless keys must be fetched to verify a token.
     *
     * @param otherwise the tenant of a request without any credential; null refuses the request
     */
    Mono<Identity> identify(ServerWebExchange exchange, @Nullable TenantId otherwise) {
        return from(0, null, exchange, otherwise);
    }

    /** @param found what the readers before this one have found; null for nothing */
    private Mono<Identity> from(
            int reader, @Nullable Found found, ServerWebExchange exchange, @Nullable TenantId otherwise) {
        Found all = found;
        try {
            for (int i = reader; i < readers.size(); i++) {
                Mono<Authentication> read = readers.get(i).read(exchange);
                if (!(read instanceof Callable<?> known)) {
                    return later(i + 1, all, read, exchange, otherwise);
                }
                all = Found.with(all, (Authentication) known.call());
            }
            return Mono.just(decide(all, otherwise));
        } catch (IdentityRefusedException refused) {
            return Mono.just(new Identity.Refused(refused));
        } catch (Exception e) {
            return Mono.error(e);
        }
    }

    private Mono<Identity> later(
            int next,
            @Nullable Found found,
            Mono<Authentication> read,
            ServerWebExchange exchange,
            @Nullable TenantId otherwise) {
        return read.map(Optional::of)
                .defaultIfEmpty(Optional.empty())
                .flatMap(each -> from(next, Found.with(found, each.orElse(null)), exchange, otherwise))
                .onErrorResume(IdentityRefusedException.class, refused -> Mono.just(new Identity.Refused(refused)));
    }

    /**
     * What the credentials of a request prove.
     *
     * @param tenant the tenant that the first one names
     * @param agree whether all of them name this tenant
     * @param key the id of the first API key; null for none
     */
    private record Found(
            TenantId tenant, boolean agree, @Nullable String key) {

        static @Nullable Found with(@Nullable Found found, @Nullable Authentication next) {
            if (next == null) {
                return found;
            }
            return found == null
                    ? new Found(next.tenant(), true, next.key())
                    : new Found(
                            found.tenant,
                            found.agree && next.tenant().equals(found.tenant),
                            found.key == null ? next.key() : found.key);
        }
    }

    private Identity decide(@Nullable Found found, @Nullable TenantId otherwise) {
        TenantId named = found == null ? otherwise : found.tenant;
        if (named == null) {
            return new Identity.Refused(new IdentityRefusedException(Reason.MISSING));
        }
        boolean agree = found == null || found.agree;
        TenantPolicy tenant = agree ? policy.tenant(named) : null;
        if (tenant != null) {
            return new Identity.Known(tenant, named, this);
        }
        return new Identity.Refused(new IdentityRefusedException(
                agree ? Reason.UNKNOWN_TENANT : Reason.CONTRADICTION, named, found == null ? null : found.key));
    }

    /** The request without the credentials that later filters, the logs and the upstream must not see. */
    ServerWebExchange strip(ServerWebExchange exchange) {
        ServerWebExchange stripped = exchange;
        for (int i = 0; i < removed.size(); i++) {
            CredentialExtractor each = removed.get(i);
            stripped = HeaderVariants.without(stripped, each::isRemovedFrom, each::carries);
        }
        return stripped;
    }

    /** The header in which the upstream gets the tenant's id; null for none. */
    public @Nullable String forwardAs() {
        return policy.identification().forwardAs();
    }

    /** Whether an upstream could take a header of this name for one that names the tenant. */
    public boolean isTenantHeader(CharSequence name) {
        for (int i = 0; i < replaced.size(); i++) {
            if (HeaderVariants.isSame(name, replaced.get(i))) {
                return true;
            }
        }
        return false;
    }
}
