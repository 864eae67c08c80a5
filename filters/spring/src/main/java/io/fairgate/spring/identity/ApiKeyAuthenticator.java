package io.fairgate.spring.identity;

import io.fairgate.policy.ApiKeyHash;
import io.fairgate.policy.ApiKeys;
import io.fairgate.spring.identity.IdentityRefusedException.Reason;
import io.fairgate.tenant.TenantId;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** Identification by an API key. The key itself does not leave this class; logs and errors get the id of its digest. */
record ApiKeyAuthenticator(ApiKeys keys) implements Authenticator {

    /** Longer keys are refused without computing a digest. */
    private static final int LONGEST = 512;

    @Override
    public Mono<Authentication> authenticate(Credential credential) {
        String value = credential.value();
        if (value == null) {
            return Mono.empty();
        }
        String key = value.strip();
        if (key.length() > LONGEST) {
            return Mono.error(new IdentityRefusedException(Reason.INVALID_KEY));
        }
        ApiKeyHash hash = ApiKeyHash.of(key);
        @Nullable TenantId owner = keys.owner(hash);
        return owner == null
                ? Mono.error(new IdentityRefusedException(Reason.INVALID_KEY, null, hash.id()))
                : Mono.just(new Authentication(owner, hash.id()));
    }
}
