package io.fairgate.spring.identity;

import io.fairgate.policy.IdentitySource;
import io.fairgate.spring.exchange.Exchanges;
import io.fairgate.spring.identity.IdentityRefusedException.Reason;
import io.fairgate.tenant.TenantId;
import java.net.InetAddress;
import java.util.List;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/** Identification by a plain header, which only trusted peers may send. */
record HeaderEvidence(IdentitySource.Header source) implements Evidence.Reader {

    @Override
    public Mono<Evidence> read(ServerWebExchange exchange) {
        List<String> values = exchange.getRequest().getHeaders().getOrDefault(source.name(), List.of());
        if (values.isEmpty()) {
            return Mono.empty();
        }
        if (values.size() != 1 || !TenantId.isWellFormed(values.get(0))) {
            return Mono.error(new IdentityRefusedException(Reason.MALFORMED));
        }
        TenantId claimed = TenantId.of(values.get(0));
        InetAddress peer = Exchanges.peer(exchange);
        return peer != null && source.trusts(peer)
                ? Mono.just(new Evidence(claimed, null))
                : Mono.error(new IdentityRefusedException(Reason.UNTRUSTED_PEER, claimed, null));
    }
}
