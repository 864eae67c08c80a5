package io.fairgate.spring.forward;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.spring.forward.GatewayPair.Observation;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.cloud.gateway.handler.predicate.RoutePredicateFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Every route predicate of Spring Cloud Gateway, on a route with {@code FairShare}. */
class BuiltInPredicatesTest {

    @Configuration(proxyBeanMethods = false)
    static class Beans {
        @Bean
        Predicate<String> saysHello() {
            return "hello"::equals;
        }
    }

    @RegisterExtension
    static final GatewayPair gateways = gateways();

    static List<BuiltInPredicate> predicates() {
        return BuiltInPredicate.all();
    }

    private static GatewayPair gateways() {
        RecordingUpstream upstream = new RecordingUpstream();
        GatewayPair gateways = new GatewayPair(upstream, Beans.class)
                .set("spring.webflux.apiversion.use.header", "X-Version")
                .set("spring.webflux.apiversion.default", "1.0");
        for (BuiltInPredicate predicate : predicates()) {
            List<String> all = new ArrayList<>(List.of("Path=/" + predicate.number() + "/**"));
            all.add(predicate.definition());
            gateways.routeTo("http://127.0.0.1:" + upstream.port(), predicate.route(), all, List.of("FairShare=pool"));
        }
        return gateways;
    }

    @ParameterizedTest
    @MethodSource("predicates")
    void a_predicate_matches_the_same_requests_as_in_front_of_the_filter_chain(BuiltInPredicate predicate)
            throws Exception {
        String matching = predicate.matching();
        if (matching != null) {
            Observation observed = gateways.observe(RecordingUpstream.OK, client -> {
                client.send(matching).response();
                client.probe();
            });
            assertThat(observed.client()).startsWith("HTTP/1.1 200");
            assertThat(observed.upstream()).startsWith(matching.substring(0, matching.indexOf('\r')));
        }
        String other = predicate.other();
        if (other != null) {
            Observation observed = gateways.observe(RecordingUpstream.OK, client -> {
                client.send(other).response();
                client.probe();
            });
            assertThat(observed.client()).startsWith("HTTP/1.1 404");
            assertThat(observed.upstream()).isEmpty();
        }
    }

    @Test
    void the_table_has_every_predicate() throws Exception {
        Set<String> listed = new TreeSet<>(BuiltInPredicate.NOT_RUN.keySet());
        predicates().forEach(predicate -> listed.add(predicate.factory()));
        assertThat(SpringCloudGateway.classes(RoutePredicateFactory.class)).containsExactlyElementsOf(listed);
    }
}
