package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** Malformed and hostile calls: each answer says what was expected, and no call holds a permit. */
@ExtendWith(OutputCaptureExtension.class)
@Tag("long")
class LeaseHostileTest {

    @RegisterExtension
    static final RunningGateway GATEWAY = new RunningGateway();

    private static final LeasingTenant A = new LeasingTenant(GATEWAY, "a");

    @BeforeAll
    static void start() {
        LeasingTenant.start(
                GATEWAY,
                TestPolicy.onePool("http://127.0.0.1:9", "permits: 4"),
                "--logging.level.org.springframework=off");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
            {"permits":0}                    | permits: 0 (expected: a whole number from 1 to 1000000)
            {"permits":-1}                   | permits: -1 (expected: a whole number
            {"permits":1000001}              | permits: 1000001 (expected: a whole number
            {"permits":2147483648}           | permits: 2147483648 (expected: a whole number
            {"permits":9223372036854775808}  | permits: 9223372036854775808 (expected: a whole number
            {"permits":1e30000000000}        | (expected:
            {"permits":1.0}                  | permits: 1.0 (expected: a whole number
            {"permits":1.5}                  | permits: 1.5 (expected: a whole number
            {"permits":1e3}                  | (expected: a whole number
            {"permits":NaN}                  | body:
            {"permits":"1"}                  | permits: "1" (expected: a whole number
            {"permits":null}                 | permits: null (expected: a whole number
            {"permits":true}                 | permits: true (expected: a whole number
            {"permits":[1]}                  | permits: [1] (expected: a whole number
            {"permits":1,"permits":1}        | body: Duplicate
            {"permit":1}                     | permit: unknown key (expected: one of permits, ttl, maxWait, holder; did you mean permits?)
            {"pools":{"pool":1}}             | pools: unknown key
            {"ttl":30}                       | ttl: 30 (expected: a duration such as
            {"ttl":"30"}                     | ttl: "30" (expected: a duration such as
            {"ttl":"-1s"}                    | ttl: "-1s" (expected: a duration such as
            {"ttl":"0s"}                     | ttl: "0s" (expected: more than 0)
            {"ttl":"PT"}                     | ttl: "PT" (expected: a duration such as
            {"ttl":""}                       | ttl: "" (expected: a duration such as
            {"maxWait":"-99999999999999999d"} | maxWait: "-99999999999999999d" (expected: a duration
            {"ttl":"PT-99999999999999999999S"} | (expected: a duration
            {"ttl":"-PT1S"}                  | (expected: a duration
            {"maxWait":"1.5s"}               | maxWait: "1.5s" (expected: a duration such as
            {"maxWait":{}}                   | maxWait: {} (expected: a duration such as
            {"holder":"a b"}                 | holder: "a b" (expected: 0 to 64 characters of [A-Za-z0-9._-])
            {"holder":7}                     | holder: 7 (expected: 0 to 64
            {"holder":"\\u0000"}             | holder: "\\u0000" (expected: 0 to 64
            [1]                              | body: [1] (expected: one JSON object)
            "x"                              | body: "x" (expected: one JSON object)
            null                             | body: null (expected: one JSON object)
            {                                | body:
            {}{}                             | body:
            {} x                             | body:
            {"ttl":"30s",}                   | body:
            {"permits":[[[[[[[[[1]]]]]]]]]}  | body:
            {permits:1}                      | body:
            {"permits":1 /* one */}          | body:
            """)
    void an_unexpected_body_is_refused_with_the_expected_form(String body, String told) {
        Answer answer = A.acquire("k", "pool", body);
        LeaseApiTest.assertProblem(answer, 400, "bad-request");
        assertThat(answer.json("detail")).contains(told).contains("(expected: ").hasSizeLessThan(300);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
            {}                                   | pools: nothing (expected: an object
            {"pools":{}}                         | pools: {} (expected: an object
            {"pools":["pool"]}                   | pools: ["pool"] (expected: an object
            {"pools":{"pool":0}}                 | pools.pool: 0 (expected: a whole number
            {"pools":{"pool":1,"pool":2}}        | body: Duplicate
            {"pools":{"pool":{"permits":1}}}     | pools.pool: {"permits":1} (expected: a whole number
            {"pools":{"pool":1},"permits":1}     | permits: unknown key
            """)
    void an_unexpected_body_for_several_pools_is_refused_too(String body, String told) {
        Answer answer = A.acquireAll("k", body);
        LeaseApiTest.assertProblem(answer, 400, "bad-request");
        assertThat(answer.json("detail")).contains(told);
        LeaseApiTest.assertProblem(A.restore("0".repeat(32), body), 400, "bad-request");
    }

    @Test
    void a_body_is_bounded_and_of_one_type() {
        String nested = "{\"permits\":" + "[".repeat(8000) + "]".repeat(8000) + "}";
        LeaseApiTest.assertProblem(A.acquire("k", "pool", nested), 400, "bad-request");
        String large = "{\"holder\":\"" + "x".repeat(17_000) + "\"}";
        LeaseApiTest.assertProblem(A.acquire("k", "pool", large), 413, "body-too-large");
        String path = "/v1/pools/pool/leases";
        for (String type : new String[] {
            "text/plain", "application/x-www-form-urlencoded", "*/*", "application", "json;", "application/json+xml"
        }) {
            LeaseApiTest.assertProblem(
                    A.call("POST", path, "{}", "Idempotency-Key", "k", "Content-Type", type),
                    415,
                    "unsupported-media-type");
        }
        LeaseApiTest.assertProblem(A.call("POST", path, "", "Idempotency-Key", "k"), 415, "unsupported-media-type");
        LeaseApiTest.assertProblem(
                A.call("POST", path, "", "Idempotency-Key", "k", "Content-Type", "application/json"),
                400,
                "bad-request");
        Answer utf8 =
                A.call("POST", path, "{}", "Idempotency-Key", "k8", "Content-Type", "application/json; charset=utf-8");
        assertThat(utf8.status()).isEqualTo(201);
        A.release(utf8.json("id"));
    }

    @Test
    void an_idempotency_key_occurs_once_and_has_only_visible_characters() throws Exception {
        LeaseApiTest.assertProblem(A.call("POST", "/v1/pools/pool/leases", "{}"), 400, "bad-request");
        for (String key : new String[] {"", "a b", "x".repeat(129), "\tx y"}) {
            LeaseApiTest.assertProblem(A.acquire(key, "pool", "{}"), 400, "bad-request");
        }
        LeaseApiTest.assertProblem(
                A.call("POST", "/v1/pools/pool/leases", "{}", "Idempotency-Key", "a", "Idempotency-Key", "a"),
                400,
                "bad-request");
        Answer longest = A.acquire("!~".repeat(64), "pool", "{}");
        assertThat(longest.status()).isEqualTo(201);
        A.release(longest.json("id"));
    }

    @ParameterizedTest
    @CsvSource({"%2F", "a%2Fb", "..%2Fpool", "%25", "pool%00", "%C3%A4", "pool%20", "POOL", "p%6Fol/"})
    void a_path_without_an_existing_pool_is_not_found(String pool) {
        Answer answer = A.acquire("k", pool, "{}");
        assertThat(answer.status()).as(answer.body()).isEqualTo(404);
        assertThat(answer.json("reason")).isIn("unknown-pool", "not-found");
    }

    @ParameterizedTest
    @CsvSource({"x", "%2F", "0", "0123456789ABCDEF0123456789ABCDEF", "00000000000000000000000000000000", "%00"})
    void a_malformed_id_is_not_found(String id) {
        LeaseApiTest.assertProblem(A.get(id), 404, "lease-expired");
        LeaseApiTest.assertProblem(A.extend(id, "1s"), 404, "lease-expired");
        assertThat(A.release(id).status()).isEqualTo(204);
    }

    @Test
    void another_method_is_not_allowed() {
        Answer answer = A.call("PATCH", "/v1/pools/pool/leases", "{}");
        LeaseApiTest.assertProblem(answer, 405, "method-not-allowed");
        assertThat(answer.field("Allow")).isEqualTo("POST");
    }

    @ParameterizedTest
    @CsvSource({"/v1/pools/%zz", "/v1/pools/pool%", "/v1/pools?x=%zz", "/v1/pools/a|b", "/v1/pools/a\\b"})
    void a_malformed_target_is_refused_with_the_expected_form(String target) throws Exception {
        try (RawClient client = new RawClient(LeasingTenant.port(GATEWAY))) {
            assertThat(client.get(target, "a").readUntil("\"reason\":\"bad-request\"}"))
                    .startsWith("HTTP/1.1 400 ")
                    .containsIgnoringCase("content-type: application/problem+json")
                    .contains("path: malformed (expected: a URI, with escapes such as %2F)");
            assertThat(client.get("/v1/pools", "a").readUntil("]}"))
                    .as("on the same connection")
                    .startsWith("HTTP/1.1 200 ");
        }
    }

    @Test
    void an_encoded_pool_name_is_decoded() {
        Answer answer = A.acquire("enc", "p%6Fol", "{}");
        assertThat(answer.status()).isEqualTo(201);
        A.release(answer.json("id"));
    }

    private static String unfinished(String fields) {
        return "POST /v1/pools/pool/leases HTTP/1.1\r\nHost: test\r\nX-Tenant-Id: a\r\nIdempotency-Key: unfinished\r\n"
                + "Content-Type: application/json\r\n" + fields + "\r\n\r\n";
    }

    @Test
    void a_body_whose_chunks_break_off_acquires_nothing(CapturedOutput output) throws IOException {
        try (RawClient client = new RawClient(LeasingTenant.port(GATEWAY))) {
            client.send(unfinished("Transfer-Encoding: chunked") + "d\r\n{\"permits\":2}\r\nzz\r\n");
            assertThat(client.readAll()).startsWith("HTTP/1.1 400 ").endsWith("\r\n\r\n");
        }
        assertThat(A.call("GET", "/v1/pools/pool", "").body())
                .contains("\"inFlight\":0")
                .doesNotContain("\"inFlight\":2");
        assertThat(output.getAll()).doesNotContain("lease-granted", " ERROR ");
    }

    @Test
    void a_body_that_takes_too_long_is_408(CapturedOutput output) throws IOException {
        try (RawClient client = new RawClient(LeasingTenant.port(GATEWAY))) {
            client.send(unfinished("Content-Length: 50") + "{");
            assertThat(client.readAll())
                    .startsWith("HTTP/1.1 408 ")
                    .contains("application/problem+json", "\"reason\":\"body-too-slow\"");
        }
        assertThat(output.getAll()).doesNotContain(" ERROR ");
    }
}
