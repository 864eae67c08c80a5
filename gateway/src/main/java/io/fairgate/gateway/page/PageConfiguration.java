package io.fairgate.gateway.page;

import io.fairgate.gateway.start.Version;
import io.fairgate.spring.actuator.PoolsEndpoint;
import io.fairgate.spring.fairshare.PermitPools;
import io.fairgate.spring.fairshare.Recordings;
import io.fairgate.spring.metrics.FairgateMeters;
import io.fairgate.time.MonotonicScheduler;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.autoconfigure.endpoint.web.WebEndpointProperties;
import org.springframework.boot.actuate.autoconfigure.web.ManagementContextConfiguration;
import org.springframework.boot.actuate.autoconfigure.web.ManagementContextType;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.availability.ApplicationAvailability;
import org.springframework.boot.availability.ReadinessState;
import org.springframework.context.annotation.Bean;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.ServerResponse;
import reactor.core.scheduler.Schedulers;
import tools.jackson.databind.json.JsonMapper;

/** The operator's page, on a management port of its own: it shows pools, so only if that endpoint is exposed. */
@ManagementContextConfiguration(value = ManagementContextType.CHILD, proxyBeanMethods = false)
@ConditionalOnProperty(name = "fairgate.management.page", matchIfMissing = true)
@ConditionalOnAvailableEndpoint(endpoint = PoolsEndpoint.class)
class PageConfiguration {

    @Bean
    PoolHistory poolHistory(PermitPools pools, FairgateMeters meters) {
        return new PoolHistory(pools, meters, MonotonicScheduler.INSTANCE);
    }

    @Bean
    PageStream pageStream(
            PermitPools pools,
            Recordings recordings,
            PoolHistory history,
            ApplicationAvailability availability,
            JsonMapper json) {
        PageStates states = new PageStates(
                pools,
                recordings,
                history,
                () -> availability.getReadinessState() == ReadinessState.REFUSING_TRAFFIC,
                Schedulers.boundedElastic());
        return new PageStream(states.states(), json);
    }

    @Bean
    RouterFunction<ServerResponse> operatorsPage(PageStream stream, WebEndpointProperties endpoints) {
        return new PageFiles(Version.text(), endpoints.getBasePath()).routes().andRoute(PageStream.REQUEST, stream);
    }
}
