package io.fairgate.spring.forward;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.cloud.gateway.support.ServerWebExchangeUtils.GATEWAY_HANDLER_MAPPER_ATTR;

import io.fairgate.spring.forward.GatewayPair.Observation;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.cloud.gateway.handler.predicate.RoutePredicateFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.server.WebFilter;
import reactor.core.publisher.Mono;

/** Every route predicate of Spring Cloud Gateway, on a route with {@code FairShare}. */
class BuiltInPredicatesTest {

    @Configuration(proxyBeanMethods = false)
    static class Beans {
        @Bean
        Predicate<String> saysHello() {
            return "hello"::equals;
        }

        @Bean
        WebFilter dispatches() {
            return (exchange, chain) -> {
                exchange.getResponse()
                        .beforeCommit(() -> Mono.fromRunnable(() ->
                                isDispatched = exchange.getAttributes().containsKey(GATEWAY_HANDLER_MAPPER_ATTR)));
                return chain.filter(exchange);
            };
        }
    }

    /** Whether Spring's dispatching has searched the route of the last request. */
    private static volatile boolean isDispatched;

    @RegisterExtension
    static final GatewayPair gateways =
            gateways(predicates().filter(predicate -> !isOfVersions(predicate)).toList());

    /** With versions of an API, Spring has to look at each request before its route is searched. */
    @RegisterExtension
    static final GatewayPair versioned = gateways(
                    predicates().filter(BuiltInPredicatesTest::isOfVersions).toList())
            .set("spring.webflux.apiversion.use.header", "X-Version")
            .set("spring.webflux.apiversion.default", "1.0");

    static Stream<BuiltInPredicate> predicates() {
        return BuiltInPredicate.all().stream();
    }

    static Stream<BuiltInPredicate> predicatesThatMatch() {
        return predicates().filter(predicate -> predicate.matching() != null);
    }

    private static boolean isOfVersions(BuiltInPredicate predicate) {
        return predicate.definition().startsWith("Version=");
    }

    private static GatewayPair of(BuiltInPredicate predicate) {
        return isOfVersions(predicate) ? versioned : gateways;
    }

    private static GatewayPair gateways(List<BuiltInPredicate> predicates) {
        RecordingUpstream upstream = new RecordingUpstream();
        GatewayPair gateways = new GatewayPair(upstream, Beans.class);
        for (BuiltInPredicate predicate : predicates) {
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
            Observation observed = of(predicate).observe(RecordingUpstream.OK, client -> {
                client.send(matching).response();
                client.probe();
            });
            assertThat(observed.client()).startsWith("HTTP/1.1 200");
            assertThat(observed.upstream()).startsWith(matching.substring(0, matching.indexOf('\r')));
        }
        String other = predicate.other();
        if (other != null) {
            Observation observed = of(predicate).observe(RecordingUpstream.OK, client -> {
                client.send(other).response();
                client.probe();
            });
            assertThat(observed.client()).startsWith("HTTP/1.1 404");
            assertThat(observed.upstream()).isEmpty();
        }
    }

    @ParameterizedTest
    @MethodSource("predicatesThatMatch")
    void a_route_with_known_predicates_is_found_before_springs_dispatching(BuiltInPredicate predicate)
            throws Exception {
        String request = Objects.requireNonNull(predicate.matching());
        of(predicate)
                .observe(
                        Way.DIRECT,
                        RecordingUpstream.OK,
                        client -> client.send(request).response());
        assertThat(isDispatched).isEqualTo(!predicate.isKnown());
    }

    @Test
    void the_table_has_every_predicate() throws Exception {
        Set<String> listed = new TreeSet<>(BuiltInPredicate.NOT_RUN.keySet());
        predicates().forEach(predicate -> listed.add(predicate.factory()));
        assertThat(SpringCloudGateway.classes(RoutePredicateFactory.class)).containsExactlyElementsOf(listed);
    }
}
