package io.fairgate.spring.forward;

import static io.fairgate.spring.forward.RecordingClient.requestWithBody;

import io.fairgate.spring.forward.RecordingUpstream.Script;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A route filter of Spring Cloud Gateway on a route of its own, beside {@code FairShare}.
 *
 * @param id of the route, and the first segment of its paths
 * @param factory simple name of the class that makes the filter
 * @param definition as in {@link GatewayPair#route}; {@code UPSTREAM} stands for the address of the upstream
 * @param request to the route
 * @param script of the upstream
 * @param seen what must be in the record because of this filter; null if nothing of it is seen outside
 * @param isKnown whether a route with this filter can be forwarded directly
 */
record BuiltInFilter(
        String id,
        String factory,
        String definition,
        String request,
        Script script,
        @Nullable String seen,
        boolean isKnown) {

    /** For filters of which it is enough that the record differs from the one without the filter. */
    private static final String ANYTHING = "";

    /** Filters that are not run, with the reason. */
    static final Map<String, String> NOT_RUN = Map.of(
            "TokenRelayGatewayFilterFactory", "needs Spring Security, which would secure the gateways of all tests",
            "JsonToGrpcGatewayFilterFactory", "needs gRPC, Protocol Buffers and a server over TLS");

    private static final String JSON = "{\"id\":1,\"secret\":2,\"c\":{\"secret\":3}}";

    private static final Script ANSWER = RecordingUpstream.answer(
            "HTTP/1.1 200 OK",
            "Content-Type: application/json",
            "Location: http://internal.test:1234/v1/x?y",
            "X-Red: 1",
            "X-Red: 1",
            "X-Blue: a=secret; b",
            "Content-Length: " + JSON.length(),
            "",
            JSON);

    static List<BuiltInFilter> all() {
        Table table = new Table();
        requestFields(table);
        requestTargets(table);
        responses(table);
        limits(table);
        bodies(table);
        secondAttempts(table);
        return table.rows;
    }

    private static void requestFields(Table table) {
        table.known("AddRequestHeader=X-Colour,blue-{segment}", get(), "X-Colour: blue-one");
        table.known("AddRequestHeader=X-Red,blue", get("X-Red: red"), "X-Red: blue");
        table.known("AddRequestHeadersIfNotPresent=X-Red:1,X-Blue:2", get("X-Red: 9"), "X-Blue: 2");
        table.known("MapRequestHeader=X-Red,X-Green", get("X-Red: a", "X-Red: b"), "X-Green: b");
        table.known("RemoveRequestHeader=X-Red", get("X-Red: 1", "x-red: 2", "X-Redder: 3"), ANYTHING);
        table.known("RemoveRequestHeader=Accept", get("Accept: a/b"), ANYTHING);
        table.known("RemoveRequestHeader=X-Tenant-Id", get(), null);
        table.known("SetRequestHeader=X-Red,blue-{segment}", get("X-Red: 1", "X-Red: 2"), "X-Red: blue-one");
        table.known("SetRequestHeader=X-Account,other", get(), null);
        table.known("SetRequestHostHeader=other.test", get(), "other.test");
        table.known("PreserveHostHeader", get(), "client.test");
    }

    private static void requestTargets(Table table) {
        table.known("AddRequestParameter=colour,blue-{segment}", get(), "a=1&b=2&colour=blue-one");
        table.known("RemoveRequestParameter=a", get(), "/two?b=2 HTTP");
        table.known("RewriteRequestParameter=a,9", get(), "a=9");
        table.known("PrefixPath=/prefix/{segment}", get(), "GET /prefix/one/");
        table.known("StripPrefix=2", get(), "GET /two?");
        table.known("StripPrefix=9", get(), "GET /?");
        table.known("SetPath=/set/{segment}", get(), "GET /set/one?a=1");
        table.known("RewritePath=/[^/]+/(?<rest>.*), /new/$\\{rest}", get(), "GET /new/one/two?a=1");
        table.unknown("RequestHeaderToRequestUri=X-Uri", get("X-Uri: UPSTREAM/elsewhere?c=d"), "GET /elsewhere?c=d");
        table.unknown("RequestHeaderToRequestUri=X-Uri", get("X-Uri: no uri"), null);
        table.unknown("SetRequestUri=UPSTREAM/uri/{segment}", get(), "GET /uri/one");
    }

    private static void responses(Table table) {
        table.known("AddResponseHeader=X-Colour,blue-{segment}", get(), "X-Colour: blue-one");
        table.known("AddResponseHeader=X-Red,2", get(), "X-Red: 2");
        table.known("AddResponseHeader=X-Green,2,false", get(), "X-Green: 2");
        table.known("DedupeResponseHeader=X-Red X-Blue", get(), ANYTHING);
        table.known("RemoveResponseHeader=X-Red", get(), ANYTHING);
        table.known("SetResponseHeader=X-Red,blue-{segment}", get(), "X-Red: blue-one");
        table.known("RewriteResponseHeader=X-Blue,=[^;]+,=***", get(), "X-Blue: a=***; b");
        table.known("RewriteLocationResponseHeader=AS_IN_REQUEST,Location,,", get(), "Location: http://client.test/");
        table.known("SecureHeaders", get(), "X-Frame-Options: DENY");
        table.known("SetStatus=418", get(), " 418 ");
        table.known("SetStatus=NOT_FOUND", get(), " 404 ");
        table.known("RedirectTo=302,http://other.test/y", get(), "Location: http://other.test/y");
        table.known("RedirectTo=302,http://other.test/y,true", get(), "Location: http://other.test/y?a=1&b=2");
        table.unknown("SaveSession", get(), null);
    }

    private static void limits(Table table) {
        table.known("RequestHeaderSize=100B", get("X-Long: " + "v".repeat(200)), " 431 ");
        table.known("RequestHeaderSize=100B", get(), null);
        table.known("RequestSize; maxSize=5B", requestWithBody("POST", "/ID/one", "hello!"), " 413 ");
        table.known("RequestSize; maxSize=5B", requestWithBody("POST", "/ID/one", "hello"), null);
        String limiter = "RequestRateLimiter; rateLimiter=#{@limiter}; keyResolver=#{@resolver}";
        table.unknown(limiter, get("X-Key: passes"), "X-RateLimit-Key: passes");
        table.unknown(limiter, get("X-Key: refused"), " 429 ");
        table.unknown(limiter, get(), " 403 ");
    }

    private static void bodies(Table table) {
        String post = requestWithBody("POST", "/ID/one", "hello", "Content-Type: text/plain");
        String modify = "Body; inClass=TYPE; outClass=TYPE; rewriteFunction=#{@upperCase}";
        table.unknown("CacheRequestBody; bodyClass=java.lang.String", post, null);
        table.unknown("ModifyRequest" + modify.replace("TYPE", "#{@text}"), post, "HELLO");
        table.unknown("ModifyResponse" + modify.replace("TYPE", "java.lang.String"), get(), "\"SECRET\":2");
        table.unknown("RemoveJsonAttributesResponseBody=secret,true", get(), "{\"id\":1,\"c\":{}}");
        table.unknown("LocalResponseCache=10m,1MB", get(), "Cache-Control: max-age");
    }

    private static void secondAttempts(Table table) {
        Script secondTime = request -> {
            if (request.number() % 2 == 0) {
                ANSWER.answer(request);
            } else {
                RecordingUpstream.answer("HTTP/1.1 503 No", "X-First: 1", "Content-Length: 0", "", "")
                        .answer(request);
            }
        };
        Script secondTimeAfterLoss = request -> {
            if (request.number() % 2 == 0) {
                ANSWER.answer(request);
            } else {
                request.body();
                request.close();
            }
        };
        String post = requestWithBody("POST", "/ID/one", "hello");
        table.unknown("Retry=1", get(), secondTime, ANYTHING);
        table.unknown("Retry; retries=1; methods=POST; backoff.firstBackoff=1ms", post, secondTime, ANYTHING);
        table.unknown("Retry=1", get(), secondTimeAfterLoss, ANYTHING);
        table.unknown(
                "CircuitBreaker; name=cb; statusCodes=503; fallbackUri=forward:/fallbackheaders-1/one",
                get(),
                secondTime,
                "X-Red: 1");
        // The circuit breaker of the line above comes first, and forwards to this route.
        table.unknown(
                "FallbackHeaders",
                get().replace("/ID/", "/circuitbreaker-1/"),
                secondTime,
                "Execution-Exception-Type: ");
        table.unknown("CircuitBreaker; name=cb2", get(), ANSWER, null);
    }

    private static String get(String... fields) {
        return RecordingClient.request("GET", "/ID/one/two?a=1&b=2", fields);
    }

    /** The table while it is made. */
    private static final class Table {
        private final List<BuiltInFilter> rows = new ArrayList<>();
        private final Map<String, Integer> counts = new LinkedHashMap<>();

        void known(String definition, String request, @Nullable String seen) {
            add(definition, request, ANSWER, seen, true);
        }

        void unknown(String definition, String request, @Nullable String seen) {
            add(definition, request, ANSWER, seen, false);
        }

        void unknown(String definition, String request, Script script, @Nullable String seen) {
            add(definition, request, script, seen, false);
        }

        private void add(String definition, String request, Script script, @Nullable String seen, boolean isKnown) {
            String name = definition.split("[=;]", 2)[0];
            String id = name.toLowerCase(Locale.ROOT) + "-" + counts.merge(name, 1, Integer::sum);
            String factory = name.equals("CircuitBreaker")
                    ? "SpringCloudCircuitBreakerResilience4JFilterFactory"
                    : name + "GatewayFilterFactory";
            rows.add(new BuiltInFilter(
                    id, factory, definition, request.replace("/ID/", "/" + id + "/"), script, seen, isKnown));
        }
    }

    @Override
    public String toString() {
        return id + ": " + definition;
    }
}
