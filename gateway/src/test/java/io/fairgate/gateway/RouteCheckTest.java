package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairgate.config.PolicyReader;
import io.fairgate.config.model.InvalidPolicyException;
import io.fairgate.spring.policyfile.PolicyRoutes;
import io.fairgate.spring.policyfile.RouteCheck;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Which routes are refused at the start, and with which words; checked with the filters of a real gateway. */
class RouteCheckTest {

    @RegisterExtension
    static final RunningGateway gateway = new RunningGateway();

    @BeforeAll
    static void start() {
        gateway.start(TestPolicy.onePool("http://127.0.0.1:9", "permits: 8")
                .replaceFirst("plans:", "classes: { batch: {} }\n  plans:"));
    }

    /** A policy whose only route has its first predicate at line 12, and its first filter at line 14. */
    private static String policy(String predicate, String filter) {
        return """
                tenants:
                  identify: [ { header: X-Tenant-Id, trusted-from: [127.0.0.0/8] } ]
                  classes: { batch: {} }
                  plans: { plan: {} }
                  members: { a: { plan: plan } }
                pools:
                  pool: { permits: 8 }
                routes:
                  - id: it
                    uri: http://127.0.0.1:9
                    predicates:
                      - %s
                    filters:
                      - %s
                """.formatted(predicate, filter);
    }

    private static void check(String policy) {
        PolicyRoutes routes = PolicyRoutes.of(
                "test.yml", PolicyReader.read("test.yml", policy).routes());
        gateway.context().getBean(RouteCheck.class).require(routes);
    }

    /** The examples of {@code docs/routes.md} below a heading. */
    private static Stream<String> examples(String heading) throws IOException {
        String page = Files.readString(Path.of("../docs/routes.md"));
        String section = page.substring(page.indexOf(heading));
        return Pattern.compile("(?m)^\\| `(\\{.*?}|\\w+=.*?)` \\|")
                .matcher(section.substring(0, section.indexOf("\n#", 1)))
                .results()
                .map(row -> row.group(1).startsWith("{") ? row.group(1) : "'" + row.group(1) + "'");
    }

    static Stream<String> filters() throws IOException {
        return Stream.concat(
                examples("## Filters\n").map(filter -> filter.replace("=orders", "=pool")),
                Stream.of(
                        "FairShare=pool, 2, 5s",
                        "{ name: FairShare, args: { pool: pool } }",
                        "{ name: FairShare, args: { pool: pool, permits: 2, max-hold: 5s } }",
                        "{ name: FairShare, args: { pool: pool, maxHold: 5s } }",
                        "{ name: FairShare, args: { pool: pool, class: batch } }",
                        "{ name: RequestSize, args: { max-size: 1KB } }",
                        "{ name: SecureHeaders, args: { disable: x-frame-options } }",
                        "SetStatus=BAD_REQUEST",
                        "PreserveHostHeader",
                        "SecureHeaders",
                        "SaveSession",
                        "Retry=3",
                        "{ name: Retry, args: { retries: 3, statuses: BAD_GATEWAY, methods: 'GET,POST', backoff: { firstBackoff: 10ms, maxBackoff: 50ms, factor: 2, basedOnPreviousValue: false } } }",
                        "{ name: Retry, args: { retries: 2, methods: [ GET, PUT ], statuses: [ BAD_GATEWAY, SERVICE_UNAVAILABLE ], series: [] } }",
                        "{ name: Retry, args: { retries: 3, exceptions: [ java.io.IOException ], series: [ SERVER_ERROR, CLIENT_ERROR ] } }"));
    }

    @ParameterizedTest
    @MethodSource("filters")
    void a_documented_filter_is_accepted(String filter) {
        assertThatCode(() -> check(policy("Path=/x/{segment}", filter))).doesNotThrowAnyException();
    }

    static Stream<String> predicates() throws IOException {
        return Stream.concat(
                examples("## Predicates\n")
                        .filter(predicate ->
                                !predicate.contains("Version=")) // Without versions of an API it is refused.
                        .map(predicate -> predicate.replace("acme, globex", "a, a")),
                Stream.of(
                        "'Path=/a/{segment},/b/**,false'",
                        "{ name: Path, args: { patterns: [ '/a/**', '/b/**' ], matchTrailingSlash: false } }",
                        "Header=X-Request-Id",
                        "Query=green",
                        "{ name: Query, args: { param: green } }",
                        "{ name: Weight, args: { weight.group: g, weight.weight: 5 } }",
                        "{ name: CloudFoundryRouteService }"));
    }

    @ParameterizedTest
    @MethodSource("predicates")
    void a_documented_predicate_is_accepted(String predicate) {
        assertThatCode(() -> check(policy(predicate, "StripPrefix=1"))).doesNotThrowAnyException();
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
            RequestSize=1KB                                            | filters[0]: RequestSize: 1KB would be ignored (expected: RequestSize without arguments, or the long form with name and args)
            'AddRequestHeader=Accept, text/html, text/plain'           | filters[0]: AddRequestHeader: text/plain would be ignored (expected: AddRequestHeader=name,value, or the long form with name and args)
            { name: AddRequestHeader, args: { name: X, vale: Y } }     | filters[0].args.vale: AddRequestHeader: vale would be ignored (expected: one of name, value; did you mean value?)
            { name: Retry, args: { retrys: 3 } }                       | filters[0].args.retrys: Retry: retrys would be ignored (expected: one of
            FairShar=pool                                              | filters[0]: unknown filter "FairShar" (expected: one of AddRequestHeader,
            CircuitBreaker=cb                                          | filters[0]: the filter CircuitBreaker needs a library, which is not here (expected: another filter, or org.springframework.cloud:spring-cloud-starter-circuitbreaker-reactor-resilience4j on the class path: docs/routes.md says how)
            SetStatus=nonsense                                         | filters[0]: SetStatus:
            AddRequestHeader=X-Colour                                  | filters[0]: AddRequestHeader: value is missing (expected: AddRequestHeader=name,value)
            'RedirectTo=302, https://u:s3cr3t@x.example:y z'            | filters[0]: RedirectTo: Illegal character in authority at index 8: https://***@x.example:y z (expected: RedirectTo=status,url,includeRequestParams)
            StripPrefix=two                                            | filters[0]: StripPrefix: For input string: "two"
            """)
    void a_filter_with_ignored_or_invalid_arguments_is_refused_at_its_line(String filter, String mistake) {
        assertThatThrownBy(() -> check(policy("Path=/x", filter)))
                .isInstanceOf(InvalidPolicyException.class)
                .hasMessageStartingWith("test.yml:14: routes[0]." + mistake);
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
            Pat=/x                                  | predicates[0]: unknown predicate "Pat" (expected: one of After,
            'Cookie=a, b, c'                        | predicates[0]: Cookie: c would be ignored (expected: Cookie=name,regexp, or the long form with name and args)
            { name: Weight, args: { grop: g } }     | predicates[0].args.grop: Weight: grop would be ignored (expected: one of
            Version=1.1+                            | predicates[0]: Version without settings of API versions (expected: process settings such as spring.webflux.apiversion.use.header=X-Version)
            Cookie=a                                | predicates[0]: Cookie: regexp is missing (expected: Cookie=name,regexp)
            Before=tomorrow                         | predicates[0]: Before: Text 'tomorrow' could not be parsed
            """)
    void a_predicate_with_ignored_or_invalid_arguments_is_refused_at_its_line(String predicate, String mistake) {
        assertThatThrownBy(() -> check(policy(predicate, "StripPrefix=1")))
                .isInstanceOf(InvalidPolicyException.class)
                .hasMessageStartingWith("test.yml:12: routes[0]." + mistake);
    }

    @Test
    void all_mistakes_are_reported_together() {
        assertThatThrownBy(() -> check(policy("Pat=/x", "RequestSze=1KB")))
                .hasMessageContaining("test.yml:12: routes[0].predicates[0]: unknown predicate \"Pat\"")
                .hasMessageContaining("test.yml:14: routes[0].filters[0]: unknown filter \"RequestSze\"");
        assertThatThrownBy(() -> check(policy("Before=tomorrow", "StripPrefix=two")))
                .hasMessageContaining("test.yml:12: routes[0].predicates[0]: Before: ")
                .hasMessageContaining("test.yml:14: routes[0].filters[0]: StripPrefix: ");
    }
}
