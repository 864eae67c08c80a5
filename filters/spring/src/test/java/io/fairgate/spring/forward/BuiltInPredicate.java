package io.fairgate.spring.forward;

import static io.fairgate.spring.forward.RecordingClient.requestWithBody;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A route predicate of Spring Cloud Gateway on a route of its own.
 *
 * @param number of the row; the paths of the route begin with it
 * @param definition as in {@link GatewayPair#routeTo}
 * @param matching a request to the route, or null if the predicate matches none
 * @param other a request that the predicate does not match, or null if it matches all
 * @param isKnown whether a route with this predicate can be found before Spring's dispatching
 */
record BuiltInPredicate(
        int number,
        String definition,
        @Nullable String matching,
        @Nullable String other,
        boolean isKnown) {

    /** Predicates that are not run, with the reason. */
    static final Map<String, String> NOT_RUN = Map.of();

    private record Row(
            String definition,
            @Nullable String matching,
            @Nullable String other) {}

    /** A route can be found before Spring's dispatching if it, and every route before it, has only these. */
    private static final List<Row> KNOWN = List.of(
            new Row("After=2017-01-20T17:42:47.789-07:00[America/Denver]", get(), null),
            new Row("After=2999-01-20T17:42:47.789-07:00[America/Denver]", null, get()),
            new Row("Before=2999-01-20T17:42:47.789Z", get(), null),
            new Row("Before=2017-01-20T17:42:47.789Z", null, get()),
            new Row("Between=2017-01-20T17:42:47.789Z, 2999-01-21T17:42:47.789Z", get(), null),
            new Row("Between=2997-01-20T17:42:47.789Z, 2999-01-21T17:42:47.789Z", null, get()),
            new Row("Cookie=chocolate, ch.p", get("Cookie: a=b; chocolate=chip"), get("Cookie: chocolate=chop2")),
            new Row("Header=X-Id, \\d+", get("X-Id: a", "X-Id: 12"), get("X-Id: a")),
            new Row("Header=X-Id", get("X-Id: a"), get()),
            new Row("Host=**.test,{sub}.example", get(), get("Host: client.org")),
            new Row("Method=GET,POST", get(), RecordingClient.request("PUT", "/N/x")),
            new Row("Path=/N/{segment}/end,/N/a*b", at("/N/x/end?a=b"), at("/N/x/y")),
            new Row("Path=/N/{*rest}", at("/N/%C3%A4/b;c"), null),
            new Row("Query=colour, bl.e", at("/N/x?colour=blue"), at("/N/x?colour=red")),
            new Row("Query=colour", at("/N/x?a=b&colour"), at("/N/x?b=colour")),
            new Row("RemoteAddr=10.0.0.0/8,127.0.0.1/32", get(), null),
            new Row("RemoteAddr=10.0.0.0/8", null, get()),
            new Row(
                    "XForwardedRemoteAddr=10.1.0.0/16",
                    get("X-Forwarded-For: 1.2.3.4, 10.1.1.1"),
                    get("X-Forwarded-For: 1.2.3.4")));

    private static final List<Row> OTHERS = List.of(
            new Row("Version=1.1+", get("X-Version: 1.2"), get("X-Version: 1.0")),
            new Row("Weight=one, 5", get(), null),
            new Row("Weight=two, 0", null, get()),
            new Row("ReadBody; inClass=java.lang.String; predicate=#{@saysHello}", post("hello"), post("bye")),
            new Row(
                    "CloudFoundryRouteService=",
                    get("X-CF-Forwarded-Url: http://a.test/", "X-CF-Proxy-Signature: s", "X-CF-Proxy-Metadata: m"),
                    get("X-CF-Forwarded-Url: http://a.test/")));

    /** Those that are known come first. */
    static List<BuiltInPredicate> all() {
        List<BuiltInPredicate> all = new ArrayList<>();
        KNOWN.forEach(row -> all.add(predicate(row, all.size(), true)));
        OTHERS.forEach(row -> all.add(predicate(row, all.size(), false)));
        return all;
    }

    private static BuiltInPredicate predicate(Row row, int number, boolean isKnown) {
        return new BuiltInPredicate(
                number,
                row.definition.replace("/N/", "/" + number + "/"),
                here(row.matching, number),
                here(row.other, number),
                isKnown);
    }

    private static @Nullable String here(@Nullable String request, int number) {
        return request == null ? null : request.replace(" /N/", " /" + number + "/");
    }

    private static String get(String... fields) {
        String request = RecordingClient.request("GET", "/N/x", fields);
        boolean hasHost = List.of(fields).stream().anyMatch(field -> field.startsWith("Host:"));
        return hasHost ? request.replaceFirst("Host: client.test\r\n", "") : request;
    }

    private static String at(String target) {
        return RecordingClient.request("GET", target);
    }

    private static String post(String body) {
        return requestWithBody("POST", "/N/x", body, "Content-Type: text/plain");
    }

    String route() {
        return "predicate-" + number;
    }

    String factory() {
        return definition.split("[=;]", 2)[0] + "RoutePredicateFactory";
    }

    @Override
    public String toString() {
        return definition;
    }
}
