package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.config.model.PolicyFile;
import io.fairgate.config.routes.BuiltIns;
import io.fairgate.config.routes.Component;
import io.fairgate.gateway.start.GatewayRun;
import io.fairgate.spring.policyfile.PolicySource;
import io.fairgate.spring.policyfile.RouteArguments;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.cloud.gateway.filter.factory.GatewayFilterFactory;
import org.springframework.cloud.gateway.handler.predicate.RoutePredicateFactory;
import org.springframework.context.ConfigurableApplicationContext;

/** What {@code config} knows of the gateway's filters and predicates, against the gateway. */
@ExtendWith(LogLevels.class)
class BuiltInsTest {

    private static final List<String> OURS = List.of("FairShare", "Cost", "Tenant");

    @Test
    void the_list_is_that_of_the_gateway() {
        PolicySource none = new PolicySource("none", PolicyFile.NOTHING, null);
        try (ConfigurableApplicationContext gateway = new GatewayRun(none).startWithoutServing()) {
            assertThat(text(BuiltIns.FILTERS.values().stream()))
                    .isEqualTo(text(gateway.getBeansOfType(GatewayFilterFactory.class).values().stream()
                            .map(factory -> RouteArguments.of(factory.name(), factory))));
            assertThat(text(BuiltIns.PREDICATES.values().stream()))
                    .isEqualTo(text(gateway.getBeansOfType(RoutePredicateFactory.class).values().stream()
                            .map(factory -> RouteArguments.of(factory.name(), factory))));
        }
    }

    private static String text(Stream<Component> components) {
        return components
                .filter(component -> !OURS.contains(component.name()))
                .map(Component::toString)
                .sorted()
                .collect(Collectors.joining("\n"));
    }
}
