package io.fairgate.spring.identity;

import io.fairgate.policy.IdentitySource;
import io.fairgate.spring.identity.IdentityRefusedException.Reason;
import io.fairgate.tenant.TenantId;
import java.net.InetAddress;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** Identification by a plain header, which only trusted peers may send. */
final class HeaderAuthenticator implements Authenticator {

    private final IdentitySource.Header source;
    /** A trusted peer, which most often sends the next request as well. */
    private volatile @Nullable InetAddress trusted;

    HeaderAuthenticator(IdentitySource.Header source) {
        this.source = source;
    }

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
        return peer != null && isTrusted(peer)
                ? Mono.just(new Authentication(claimed, null))
                : Mono.error(new IdentityRefusedException(Reason.UNTRUSTED_PEER, claimed, null));
    }

    private boolean isTrusted(InetAddress peer) {
        if (peer.equals(trusted)) {
            return true;
        }
        boolean trusts = source.trusts(peer);
        trusted = trusts ? peer : trusted;
        return trusts;
    }
}
