package io.fairgate.gateway.start;

import io.fairgate.gateway.http.BrokenBodies;
import io.fairgate.gateway.http.BrokenStreams;
import io.fairgate.gateway.http.HeaderTimeout;
import io.fairgate.gateway.http.Http2Pipelines;
import io.fairgate.gateway.http.NoUpgradeToHttp2;
import io.fairgate.gateway.http.PipelinedRequests;
import java.time.Duration;
import org.springframework.boot.actuate.autoconfigure.web.ManagementContextConfiguration;
import org.springframework.boot.actuate.autoconfigure.web.ManagementContextType;
import org.springframework.boot.reactor.netty.NettyReactiveWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.context.annotation.Bean;

/**
 * Makes HTTP stricter than Reactor Netty does: on the traffic port as an import of the application, and on the management
 * port, which has a context of its own, as a configuration for that.
 */
@ManagementContextConfiguration(value = ManagementContextType.CHILD, proxyBeanMethods = false)
class StrictHttp {

    @Bean
    WebServerFactoryCustomizer<NettyReactiveWebServerFactory> strictHttp(ClientSettings clients) {
        Duration headers = clients.headerTime().value();
        return factory -> factory.addServerCustomizers(
                Http2Pipelines::bounded,
                NoUpgradeToHttp2::on,
                server -> HeaderTimeout.of(server, headers),
                BrokenBodies::refusedBy,
                BrokenStreams::refusedBy,
                PipelinedRequests::inTurn);
    }
}
