package io.fairgate.spring.identity;

import io.fairgate.policy.Identification;
import io.fairgate.policy.IdentitySource;
import io.fairgate.policy.Policy;
import io.fairgate.policy.TenantPolicy;
import io.fairgate.spring.identity.IdentityRefusedException.Reason;
import io.fairgate.spring.policy.PolicyParticipant;
import io.fairgate.tenant.TenantId;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Finds the tenant of each request, once for each request.
 *
 * <p>The ways of the policy are tried in order. The first one for which the request has a credential names the tenant;
 * the other credentials of the request must be valid and name the same tenant. So an invalid credential is refused even
 * beside a trusted header, and a header cannot name another tenant than the credential does.
 *
 * <p>Nothing is kept per id, so invented ids cost the gateway nothing.
 */
public final class TenantIdentifier implements PolicyParticipant {

    private final Evidence.Tokens tokens;
    private volatile Prepared prepared;
    /** For the policy that is being prepared. Used only by changes of the policy, which run one at a time. */
    private Prepared next;

    /** The readers of credentials for one policy. */
    private record Prepared(Policy policy, List<Evidence.Reader> readers) {}

    TenantIdentifier(Policy policy, Evidence.Tokens tokens) {
        this.tokens = tokens;
        this.next = readied(policy);
        this.prepared = next;
    }

    @Override
    public Order order() {
        return Order.IDENTIFICATION;
    }

    @Override
    public void prepare(Policy policy) {
        next = readied(policy);
    }

    @Override
    public void rollBack() {
        next = prepared;
        tokens.keepOnly(prepared.policy().identification().sources());
    }

    @Override
    public void commit(Policy policy) {
        prepared = next;
        tokens.keepOnly(policy.identification().sources());
    }

    /** The tenant of a request, or the reason why it has none; repeated calls give the same answer. Does not error. */
    public Mono<Identity> identify(ServerWebExchange exchange) {
        return identify(exchange, null);
    }

    /** The same, but a request without any credential belongs to {@code otherwise}, unless that is null. */
    public Mono<Identity> identify(ServerWebExchange exchange, @Nullable TenantId otherwise) {
        return Mono.defer(() -> {
            Identity known = Identity.of(exchange);
            return known != null
                    ? Mono.just(known)
                    : identify(prepared, exchange, otherwise).doOnNext(found -> found.noteOn(exchange));
        });
    }

    private Prepared readied(Policy policy) {
        Identification identification = policy.identification();
        List<Evidence.Reader> readers = new ArrayList<>();
        for (IdentitySource source : identification.sources()) {
            if (source instanceof IdentitySource.Header header) {
                readers.add(new HeaderEvidence(header));
            } else if (source instanceof IdentitySource.ApiKey key) {
                readers.add(new ApiKeyEvidence(key, identification.apiKeys()));
            } else if (source instanceof IdentitySource.Jwt token) {
                readers.add(tokens.reader(token));
            } else if (source instanceof IdentitySource.ClientCertificate certificate) {
                readers.add(new CertificateEvidence(certificate.name(), policy));
            }
        }
        return new Prepared(policy, List.copyOf(readers));
    }

    private static Mono<Identity> identify(Prepared ready, ServerWebExchange exchange, @Nullable TenantId otherwise) {
        return Flux.fromIterable(ready.readers())
                .concatMap(reader -> reader.read(exchange))
                .collectList()
                .map(all -> all.isEmpty() && otherwise != null
                        ? known(ready.policy(), otherwise)
                        : decide(ready.policy(), all))
                .onErrorResume(IdentityRefusedException.class, refused -> Mono.just(new Identity.Refused(refused)));
    }

    private static Identity known(Policy policy, TenantId named) {
        TenantPolicy tenant = policy.tenant(named);
        return tenant == null
                ? new Identity.Refused(new IdentityRefusedException(Reason.UNKNOWN_TENANT, named, null))
                : new Identity.Known(tenant, named, policy.identification());
    }

    private static Identity decide(Policy policy, List<Evidence> all) {
        if (all.isEmpty()) {
            return new Identity.Refused(new IdentityRefusedException(Reason.MISSING));
        }
        Evidence first = all.get(0);
        String key = all.stream()
                .map(Evidence::key)
                .filter(id -> id != null)
                .findFirst()
                .orElse(null);
        for (Evidence other : all) {
            if (!other.tenant().equals(first.tenant())) {
                return refused(Reason.CONTRADICTION, first, key);
            }
        }
        TenantPolicy tenant = policy.tenant(first.tenant());
        return tenant == null
                ? refused(Reason.UNKNOWN_TENANT, first, key)
                : new Identity.Known(tenant, first.tenant(), policy.identification());
    }

    private static Identity refused(Reason reason, Evidence first, @Nullable String key) {
        return new Identity.Refused(new IdentityRefusedException(reason, first.tenant(), key));
    }
}
