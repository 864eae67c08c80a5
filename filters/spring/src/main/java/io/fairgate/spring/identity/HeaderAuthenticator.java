package io.fairgate.spring.identity;

import io.fairgate.policy.IdentitySource;
import io.fairgate.policy.TrustedProxies;
import io.fairgate.spring.identity.IdentityRefusedException.Reason;
import io.fairgate.tenant.TenantId;
import java.net.InetAddress;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** Identification by a plain header, which only clients of certain networks, or only the trusted proxies, may send. */
final class HeaderAuthenticator implements Authenticator {

    private final IdentitySource.Header source;
    private final TrustedProxies proxies;
    /** A trusted address, which most often sends the next request as well. */
    private volatile @Nullable InetAddress trusted;

    HeaderAuthenticator(IdentitySource.Header source, TrustedProxies proxies) {
        this.source = source;
        this.proxies = proxies;
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
        InetAddress sender = source.isForProxies() ? credential.peer() : credential.client(proxies);
        return sender != null && isTrusted(sender)
                ? Mono.just(new Authentication(claimed, null))
                : Mono.error(new IdentityRefusedException(Reason.UNTRUSTED_PEER, claimed, null));
    }

    private boolean isTrusted(InetAddress sender) {
        if (sender.equals(trusted)) {
            return true;
        }
        boolean trusts = source.isForProxies() ? proxies.contains(sender) : source.trusts(sender);
        trusted = trusts ? sender : trusted;
        return trusts;
    }
}
