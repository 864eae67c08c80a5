package io.fairgate.spring.overload;

import io.fairgate.policy.TenantPolicy;
import io.fairgate.spring.exchange.Exchanges;
import io.fairgate.spring.policy.PolicyHolder;
import io.fairgate.spring.refusal.Decisions;
import io.fairgate.spring.refusal.Decisions.Origin;
import io.fairgate.spring.refusal.RefusalMeters;
import org.springframework.web.server.ServerWebExchange;
import reactor.netty.Connection;

/** The step of the admission that refuses requests of tenants above their share while the event loops are overloaded. */
public record OverloadGuard(EventLoops loops, PolicyHolder policy, Decisions decisions, RefusalMeters refusals) {

    /** Throws {@link OverloadedException} when the request is refused. In a dry run it notes the refusal instead. */
    public void requireRoom(ServerWebExchange exchange, TenantPolicy tenant) {
        if (loops.areOverloaded()) {
            Connection connection = Exchanges.connection(exchange);
            if (connection != null && !loops.admits(connection.channel().eventLoop(), tenant)) {
                refuse(exchange, tenant);
            }
        }
    }

    private void refuse(ServerWebExchange exchange, TenantPolicy tenant) {
        boolean isEnforced = policy.current().enforcement().isOn();
        OverloadedException refusal = new OverloadedException();
        refusals.refused(tenant.id(), OverloadedException.REASON, isEnforced);
        if (isEnforced) {
            throw refusal;
        }
        decisions.noteDryRun(Origin.of(exchange), refusal);
    }
}
