package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairgate.config.PolicyReader;
import io.fairgate.config.model.InvalidPolicyException;
import io.fairgate.gateway.policy.PolicyRoutes;
import io.fairgate.gateway.policy.RouteCheck;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

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

    @ParameterizedTest
    @ValueSource(
            strings = {
                "FairShare=pool",
                "FairShare=pool,2",
                "FairShare=pool, 2, 5s",
                "{ name: FairShare, args: { pool: pool } }",
                "{ name: FairShare, args: { pool: pool, permits: 2, max-hold: 5s } }",
                "{ name: FairShare, args: { pool: pool, maxHold: 5s } }",
                "{ name: FairShare, args: { pool: pool, class: batch } }",
                "AddRequestHeader=X, Y",
                "AddRequestHeadersIfNotPresent=X:Y,Z:W",
                "AddRequestParameter=color, blue",
                "AddResponseHeader=X, Y",
                "DedupeResponseHeader=Access-Control-Allow-Origin Vary, RETAIN_FIRST",
                "MapRequestHeader=Blue, X-Red",
                "PrefixPath=/mypath",
                "PreserveHostHeader",
                "RedirectTo=302, https://acme.org",
                "RemoveRequestHeader=X",
                "RemoveRequestParameter=red",
                "RemoveResponseHeader=X",
                "RequestHeaderSize=1000B",
                "RequestHeaderToRequestUri=X",
                "{ name: RequestSize, args: { maxSize: 1KB } }",
                "{ name: RequestSize, args: { max-size: 1KB } }",
                "'RewritePath=/red/?(?<segment>.*), /$\\{segment}'",
                "RewriteLocationResponseHeader=AS_IN_REQUEST, Location, ,",
                "RewriteRequestParameter=campaign, fall2023",
                "'RewriteResponseHeader=X-Red, password=[^&]+, password=***'",
                "SaveSession",
                "SecureHeaders",
                "SetPath=/{segment}",
                "SetRequestHeader=X, Y",
                "SetRequestHostHeader=example.org",
                "SetResponseHeader=X, Y",
                "SetStatus=401",
                "SetStatus=BAD_REQUEST",
                "StripPrefix=1",
                "Retry=3",
                "{ name: Retry, args: { retries: 3, statuses: BAD_GATEWAY, methods: 'GET,POST', backoff: { firstBackoff: 10ms, maxBackoff: 50ms, factor: 2, basedOnPreviousValue: false } } }",
                "{ name: Retry, args: { retries: 3, exceptions: [ java.io.IOException ], series: [ SERVER_ERROR, CLIENT_ERROR ] } }",
                "{ name: CacheRequestBody, args: { bodyClass: java.lang.String } }"
            })
    void a_documented_filter_is_accepted(String filter) {
        assertThatCode(() -> check(policy("Path=/x/{segment}", filter))).doesNotThrowAnyException();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Path=/a/**",
                "'Path=/a/{segment},/b/**,false'",
                "{ name: Path, args: { patterns: [ '/a/**', '/b/**' ], matchTrailingSlash: false } }",
                "'Host=**.somehost.org,**.anotherhost.org'",
                "'Method=GET,POST'",
                "'Header=X-Request-Id, \\d+'",
                "Header=X-Request-Id",
                "Query=green",
                "'Query=red, gree.'",
                "'Cookie=chocolate, ch.p'",
                "'Weight=group,5'",
                "'Before=2037-01-20T17:42:47.789-07:00[America/Denver]'",
                "'After=2017-01-20T17:42:47.789-07:00[America/Denver]'",
                "'Between=2017-01-20T17:42:47.789-07:00[America/Denver], 2037-01-21T17:42:47.789-07:00[America/Denver]'",
                "'RemoteAddr=192.168.1.1/24'",
                "{ name: Query, args: { param: green } }",
                "{ name: Weight, args: { weight.group: g, weight.weight: 5 } }"
            })
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
            SetStatus=nonsense                                         | filters[0]: SetStatus:
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
