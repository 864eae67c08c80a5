package io.fairgate.spring.forward;

import static io.fairgate.spring.forward.RecordingClient.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.spring.forward.GatewayPair.Observation;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.FieldSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.reactive.function.server.ServerResponse;

/** Several filters on one route, and filters with targets that another filter may write in another way. */
class FilterCombinationsTest {

    /**
     * Filters of one route, in this order. Those of responses take effect in the reverse order.
     *
     * @param seen what must be in the record because of the order
     */
    record Combination(String seen, List<String> filters) {
        static Combination of(String seen, String... filters) {
            return new Combination(seen, List.of(filters));
        }
    }

    static final List<Combination> COMBINATIONS = List.of(
            Combination.of("X-Red: 1\n  X-Red: 2", "AddRequestHeader=X-Red,1", "AddRequestHeader=X-Red,2"),
            Combination.of("GET /two?", "StripPrefix=1", "StripPrefix=1"),
            Combination.of("GET /1/c2/", "PrefixPath=/1", "PrefixPath=/2"),
            Combination.of("GET /three?", "SetPath=/one/two/three", "StripPrefix=2"),
            Combination.of("GET /new/one/two?", "StripPrefix=1", "PrefixPath=/new"),
            Combination.of("X-Red: 3", "RemoveRequestHeader=X-Red", "SetRequestHeader=X-Red,3"),
            Combination.of(
                    "X-Blue: 1",
                    "SetRequestHeader=X-Red,1",
                    "MapRequestHeader=X-Red,X-Blue",
                    "RemoveRequestHeader=X-Red"),
            Combination.of("a=1&a=2", "RemoveRequestParameter=a", "AddRequestParameter=a,1", "AddRequestParameter=a,2"),
            Combination.of("b=9", "RewriteRequestParameter=b,9", "AddRequestParameter=c,3"),
            Combination.of(
                    "GET /new/one/two?a=1&b=2&c=3 ",
                    "AddRequestParameter=c,3",
                    "RewritePath=/[^/]+/(?<r>.*), /new/$\\{r}"),
            Combination.of("X-Order: 1\n  X-Order: 2", "AddResponseHeader=X-Order,2", "AddResponseHeader=X-Order,1"),
            Combination.of("X-Order: 1", "AddResponseHeader=X-Order,1", "RemoveResponseHeader=X-Order"),
            Combination.of("HTTP/1.1 200", "RemoveResponseHeader=X-Order", "AddResponseHeader=X-Order,1"),
            Combination.of("X-Order: 3", "SetResponseHeader=X-Order,3", "AddResponseHeader=X-Order,1"),
            Combination.of(
                    "X-Twice: 1",
                    "DedupeResponseHeader=X-Twice",
                    "AddResponseHeader=X-Twice,1",
                    "AddResponseHeader=X-Twice,1"),
            Combination.of(" 418 ", "SetStatus=418", "SetStatus=404", "SecureHeaders"),
            Combination.of("Host: other.test", "PreserveHostHeader", "SetRequestHostHeader=other.test"),
            Combination.of("Host: other.test", "SetRequestHostHeader=other.test", "PreserveHostHeader"),
            Combination.of("X-Red: 1", "AddRequestHeader=X-Red,1", "FairShare=pool", "AddResponseHeader=X-Order,1"),
            Combination.of("X-Order: 1", "AddResponseHeader=X-Order,1", "StripPrefix=1", "FairShare=pool"),
            Combination.of("GET /one/two?", "FairShare=pool", "FairShare=other", "StripPrefix=1"),
            Combination.of(
                    "Location: http://a.test/",
                    "AddResponseHeader=X-Order,1",
                    "RedirectTo=302,http://a.test/",
                    "StripPrefix=1"),
            Combination.of("X-Red: 1", "AddRequestHeader=X-Red,1", "Retry=1", "StripPrefix=1"),
            Combination.of("GET /one/two?", "SaveSession", "StripPrefix=1", "PreserveHostHeader", "SecureHeaders"),
            Combination.of(
                    "GET /x?y",
                    "AddRequestHeader=X-Uri,http://127.0.0.1:PORT/x?y",
                    "RequestHeaderToRequestUri=X-Uri",
                    "StripPrefix=1"),
            Combination.of(
                    "GET /set/9?",
                    "SetPath=/set/9",
                    "SetRequestHeader=X-Red,{segment}",
                    "RewriteResponseHeader=X-Twice,1,2"));

    /** Filters that change targets. */
    static final List<String> OF_TARGETS = List.of(
            "StripPrefix=0",
            "StripPrefix=1",
            "StripPrefix=2",
            "PrefixPath=/p%20q/{segment}",
            "SetPath=/set/{segment}",
            "RewritePath=/[^/]+/(?<rest>.*), /new/$\\{rest}",
            "RewritePath=no match, /new",
            "AddRequestParameter=new,a b&c=d+e%20f",
            "RemoveRequestParameter=a",
            "RewriteRequestParameter=a,x y&z",
            "PreserveHostHeader");

    @Configuration(proxyBeanMethods = false)
    static class Page {
        @Bean
        RouterFunction<ServerResponse> page() {
            return RouterFunctions.route()
                    .GET("/own/**", request -> ServerResponse.ok().bodyValue("the page " + request.path()))
                    .build();
        }
    }

    @RegisterExtension
    static final GatewayPair gateways = gateways();

    private static GatewayPair gateways() {
        RecordingUpstream upstream = new RecordingUpstream();
        GatewayPair gateways = new GatewayPair(upstream, Page.class)
                .set("fairgate.policy.pools.other.permits", 1)
                .setWebflux("default-filters[0]", "AddRequestHeader=X-Default,{segment}")
                .setWebflux("default-filters[1]", "AddResponseHeader=X-Default,1")
                .routeTo("forward:/own/forwarded", "page", List.of("Path=/page/{segment}"), List.of("FairShare=pool"))
                .routeTo(
                        "no://op",
                        "nowhere",
                        List.of("Path=/nowhere/{segment}"),
                        List.of("FairShare=pool", "SetStatus=418"));
        for (int i = 0; i < COMBINATIONS.size(); i++) {
            String[] filters = COMBINATIONS.get(i).filters().stream()
                    .map(filter -> filter.replace("PORT", String.valueOf(upstream.port())))
                    .toArray(String[]::new);
            gateways.route("c" + i, "Path=/c" + i + "/{segment}/**", filters);
        }
        for (int i = 0; i < OF_TARGETS.size(); i++) {
            gateways.route("t" + i, "Path=/t" + i + "/{*segment}", OF_TARGETS.get(i));
        }
        return gateways;
    }

    @ParameterizedTest
    @FieldSource("COMBINATIONS")
    void filters_of_one_route_change_a_request_as_in_the_filter_chain(Combination combination) throws Exception {
        String path = "/c" + COMBINATIONS.indexOf(combination) + "/one/two?a=1&b=2";
        Observation observed = gateways.observe(
                RecordingUpstream.answer("HTTP/1.1 200 OK", "X-Twice: 1", "Content-Length: 2", "", "ok"), client -> {
                    client.send(request("GET", path, "X-Red: red")).response();
                    client.send(request("GET", path, "X-Red: red")).response();
                });
        assertThat(observed.text()).contains(combination.seen());
    }

    static List<Integer> filtersOfTargets() {
        return IntStream.range(0, OF_TARGETS.size()).boxed().toList();
    }

    @ParameterizedTest
    @MethodSource("filtersOfTargets")
    void a_filter_changes_odd_targets_as_in_the_filter_chain(int filter) throws Exception {
        for (String target : RequestCase.TARGETS) {
            if (target.startsWith("/")) {
                Observation observed = gateways.observe(
                        RecordingUpstream.OK,
                        client -> client.send(request("GET", "/t" + filter + target))
                                .response());
                assertThat(observed.client()).as(target).startsWith("HTTP/1.1 ");
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"/page/x, the page /own/forwarded", "/nowhere/x, 418"})
    void a_route_without_an_upstream(String path, String seen) throws Exception {
        Observation observed = gateways.observe(RecordingUpstream.OK, client -> {
            client.send(request("GET", path)).response();
            client.send(request("GET", "/c1/one/two")).response();
        });
        assertThat(observed.client()).contains(seen, "X-Default: 1");
    }
}
