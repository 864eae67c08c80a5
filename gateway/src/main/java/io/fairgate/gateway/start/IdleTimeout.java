package io.fairgate.gateway.start;

import io.fairgate.gateway.http.IdleConnections;
import java.time.Duration;
import org.springframework.boot.reactor.netty.NettyReactiveWebServerFactory;
import org.springframework.boot.reactor.netty.autoconfigure.NettyServerProperties;
import org.springframework.boot.web.server.Ssl;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.boot.web.server.autoconfigure.ServerProperties;
import org.springframework.core.Ordered;

/**
 * Has {@link IdleConnections} do what {@code server.netty.idle-timeout} says, on the traffic port and without TLS. Reactor
 * Netty cannot be told to have no such timeout once it has one, so the setting is hidden from Boot until the server of
 * this port is made; the management port is made later.
 */
record IdleTimeout(NettyServerProperties netty, ServerProperties server)
        implements WebServerFactoryCustomizer<NettyReactiveWebServerFactory>, Ordered {

    /** Before Boot reads the setting. */
    @Override
    public int getOrder() {
        return Ordered.HIGHEST_PRECEDENCE;
    }

    @Override
    public void customize(NettyReactiveWebServerFactory factory) {
        Duration most = netty.getIdleTimeout();
        if (most != null && most.toMillis() > 0 && !Ssl.isEnabled(server.getSsl())) {
            netty.setIdleTimeout(null);
            factory.addServerCustomizers(server -> {
                netty.setIdleTimeout(most);
                return IdleConnections.closedBy(server, most);
            });
        }
    }
}
