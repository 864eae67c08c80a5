package io.fairgate.spring.identity;

import io.fairgate.policy.IdentitySource;
import io.fairgate.spring.identity.IdentityRefusedException.Reason;
import io.fairgate.tenant.TenantId;
import java.net.InetAddress;
import reactor.core.publisher.Mono;

/** Identification by a plain header, which only trusted peers may send. */
record HeaderAuthenticator(IdentitySource.Header source) implements Authenticator {

    @Override
    public Mono<Authentication> authenticate(Credential credential) {
        String value = credential.value();
        if (value == null) {
            return Mono.empty();
        }
        if (!TenantId.isWellFormed(value)) {
            return Mono.error(new IdentityRefusedException(Reason.MALFORMED));
        }
        TenantId claimed = TenantId.of(value);
        InetAddress peer = credential.peer();
        return peer != null && source.trusts(peer)
                ? Mono.just(new Authentication(claimed, null))
                : Mono.error(new IdentityRefusedException(Reason.UNTRUSTED_PEER, claimed, null));
    }
}
