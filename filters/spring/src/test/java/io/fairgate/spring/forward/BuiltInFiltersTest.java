package io.fairgate.spring.forward;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.spring.forward.GatewayPair.Conversation;
import io.fairgate.spring.forward.GatewayPair.Observation;
import io.fairgate.spring.forward.RecordingUpstream.Script;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.cloud.gateway.filter.factory.GatewayFilterFactory;
import org.springframework.cloud.gateway.filter.factory.rewrite.RewriteFunction;
import org.springframework.cloud.gateway.filter.ratelimit.KeyResolver;
import org.springframework.cloud.gateway.filter.ratelimit.RateLimiter;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.ParameterizedTypeReference;
import reactor.core.publisher.Mono;

/** Every route filter of Spring Cloud Gateway, beside {@code FairShare}. */
class BuiltInFiltersTest {

    /** What some filters need. */
    @Configuration(proxyBeanMethods = false)
    static class Beans {

        @Bean
        KeyResolver resolver() {
            return exchange ->
                    Mono.justOrEmpty(exchange.getRequest().getHeaders().getFirst("X-Key"));
        }

        @Bean
        RateLimiter<Object> limiter() {
            return new OneKeyRefused();
        }

        @Bean
        ParameterizedTypeReference<String> text() {
            return ParameterizedTypeReference.forType(String.class);
        }

        @Bean
        RewriteFunction<String, String> upperCase() {
            return (exchange, body) -> Mono.justOrEmpty(body).map(text -> text.toUpperCase(Locale.ROOT));
        }
    }

    /** Refuses the key {@code refused}. */
    private static final class OneKeyRefused implements RateLimiter<Object> {
        @Override
        public Mono<Response> isAllowed(String route, String key) {
            return Mono.just(new Response(!key.equals("refused"), Map.of("X-RateLimit-Key", key)));
        }

        @Override
        public Map<String, Object> getConfig() {
            return Map.of();
        }

        @Override
        public Class<Object> getConfigClass() {
            return Object.class;
        }

        @Override
        public Object newConfig() {
            return new Object();
        }
    }

    @RegisterExtension
    static final GatewayPair gateways = gateways();

    static List<BuiltInFilter> filters() {
        return BuiltInFilter.all();
    }

    private static GatewayPair gateways() {
        RecordingUpstream upstream = new RecordingUpstream();
        GatewayPair gateways = new GatewayPair(upstream, Beans.class)
                .setWebflux("filter.local-response-cache.enabled", true)
                .setWebflux("global-filter.local-response-cache.enabled", false)
                .route("bare", "Path=/bare/**");
        for (BuiltInFilter filter : filters()) {
            gateways.route(
                    filter.id(),
                    "Path=/" + filter.id() + "/{segment}/**",
                    "FairShare=pool",
                    here(filter.definition(), upstream));
        }
        return gateways;
    }

    private static String here(String text, RecordingUpstream upstream) {
        return text.replace("UPSTREAM", "http://127.0.0.1:" + upstream.port());
    }

    @ParameterizedTest
    @MethodSource("filters")
    void a_filter_changes_a_request_as_in_the_filter_chain(BuiltInFilter filter) throws Exception {
        gateways.assertForwardedDirectly(filter.id(), filter.isKnown());
        String request = here(filter.request(), gateways.upstream());
        Observation observed = gateways.observe(filter.script(), twice(request));
        String without = observe(filter.script(), request.replaceFirst("/[^/]+/", "/bare/"));
        String with = observed.text().replace("/" + filter.id() + "/", "/bare/");
        if (filter.seen() == null) {
            assertThat(with).isEqualTo(without);
        } else {
            assertThat(with).contains(filter.seen()).isNotEqualTo(without);
        }
    }

    private static String observe(Script script, String request) throws Exception {
        return gateways.observe(Way.DIRECT, script, twice(request)).text();
    }

    /** A second time, because a filter may keep something of the first request. */
    private static Conversation twice(String request) {
        return client -> {
            client.send(request).response();
            client.send(request).response();
        };
    }

    @Test
    void the_table_has_every_filter() throws Exception {
        Set<String> listed = new TreeSet<>(BuiltInFilter.NOT_RUN.keySet());
        filters().forEach(filter -> listed.add(filter.factory()));
        assertThat(SpringCloudGateway.classes(GatewayFilterFactory.class)).containsExactlyElementsOf(listed);
    }
}
