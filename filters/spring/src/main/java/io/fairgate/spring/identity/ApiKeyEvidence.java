package io.fairgate.spring.identity;

import io.fairgate.policy.ApiKeyHash;
import io.fairgate.policy.ApiKeys;
import io.fairgate.policy.IdentitySource;
import io.fairgate.spring.identity.IdentityRefusedException.Reason;
import io.fairgate.tenant.TenantId;
import org.jspecify.annotations.Nullable;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/** Identification by an API key. The key itself does not leave this class; logs and errors get the id of its digest. */
record ApiKeyEvidence(IdentitySource.ApiKey source, ApiKeys keys) implements Evidence.Reader {

    /** Longer keys are refused without computing a digest. */
    private static final int LONGEST = 512;

    @Override
    public Mono<Evidence> read(ServerWebExchange exchange) {
        CredentialField field = new CredentialField(source.header(), source.scheme());
        String key = field.value(exchange.getRequest().getHeaders());
        return key == null ? Mono.empty() : owner(key);
    }

    private Mono<Evidence> owner(String key) {
        if (key.length() > LONGEST) {
            return Mono.error(new IdentityRefusedException(Reason.INVALID_KEY));
        }
        ApiKeyHash hash = ApiKeyHash.of(key);
        @Nullable TenantId owner = keys.owner(hash);
        return owner == null
                ? Mono.error(new IdentityRefusedException(Reason.INVALID_KEY, null, hash.id()))
                : Mono.just(new Evidence(owner, hash.id()));
    }
}
