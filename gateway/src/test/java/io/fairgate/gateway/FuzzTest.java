package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.util.List;
import java.util.Random;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/**
 * Requests that were changed at random: each connection ends when its client has sent all, no answer is a failure of the
 * gateway, the upstream gets sound requests only, and nothing fills the log. {@code -Dfairgate.fuzz=COUNT} sets the number of
 * requests of all tests here; a message shows the seed of a connection.
 */
@ExtendWith(OutputCaptureExtension.class)
class FuzzTest {

    private static final int TESTS = 4;
    private static final int REQUESTS = Integer.getInteger("fairgate.fuzz", 20_000) / TESTS;
    private static final long FIRST_SEED = 20_261_128;

    /** A request in which each reader finds the same target, fields and end. */
    private static final Pattern SOUND =
            Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]+ /(fair|plain)[!-\\xff]* HTTP/1\\.1\r\n"
                    + "([!#$%&'*+.^_`|~0-9A-Za-z-]+: [\\t -\\xff]*\r\n)+\r\n");

    /** What is allowed in the log: one line a minute about clients that break HTTP. */
    private static final Pattern LINE = Pattern.compile("(?m)^.* (WARN|ERROR) (?!.*ClientFaults).*$|^\tat .*$");

    @RegisterExtension
    static final GatewayAndUpstream both = new GatewayAndUpstream();

    private int logged;

    @BeforeAll
    static void start() {
        both.start(TestPolicy.onePool("http://UPSTREAM", "permits: 4"), LeasingTenant.ON, "--fairgate.leases.port=0");
    }

    @BeforeEach
    void begin(CapturedOutput output) {
        logged = output.getAll().length();
    }

    @AfterEach
    void nothing_fills_the_log(CapturedOutput output) {
        assertThat(output.getAll().substring(logged)).doesNotContainPattern(LINE);
    }

    @Test
    void http1() throws IOException {
        fuzz(
                both.gateway().port(),
                textOf(Corpus.read("http1-requests.txt").map(Corpus.Case::text).toList()));
    }

    @Test
    void http2() throws IOException {
        List<Http2Request> requests =
                Corpus.read("http2-requests.txt").map(Http2Request::of).toList();
        fuzz(both.gateway().port(), random -> new FuzzedFrames(random, requests));
    }

    @Test
    void the_management_port() throws IOException {
        fuzz(
                both.gateway().managementPort(),
                textOf(List.of(
                        "GET /actuator HTTP/1.1\r\nHost: test\r\n\r\n",
                        "GET /actuator/health/readiness HTTP/1.1\r\nHost: test\r\nAccept: text/plain\r\n\r\n",
                        "GET /actuator/prometheus?includedNames=fairgate_pool_permits HTTP/1.1\r\nHost: test\r\n\r\n",
                        "GET /actuator/pools?tenant=a&limit=5 HTTP/1.1\r\nHost: test\r\n\r\n",
                        "GET /actuator/decisions/01JD HTTP/1.1\r\nHost: test\r\n\r\n",
                        "POST /actuator/policy HTTP/1.1\r\nHost: test\r\nContent-Length: 0\r\n\r\n",
                        "POST /actuator/policy HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n"
                                + "Content-Length: 2\r\n\r\n{}",
                        "GET /v1/pools HTTP/1.1\r\nHost: test\r\n\r\n")));
    }

    @Test
    void the_port_of_leases() throws IOException {
        fuzz(
                LeasingTenant.port(both.gateway()),
                textOf(List.of(
                        call("POST /v1/pools/pool/leases", "Idempotency-Key: 1", "{\"permits\":1,\"ttl\":\"1s\"}"),
                        call("POST /v1/pools/pool/leases", "Idempotency-Key: 2", "{\"permits\":9,\"maxWait\":\"0s\"}"),
                        call(
                                "POST /v1/leases:acquireAll",
                                "Idempotency-Key: 3",
                                "{\"pools\":{\"pool\":1},\"ttl\":\"1s\"}"),
                        call("PUT /v1/leases/01JD", "Accept: */*", "{\"ttl\":\"1s\"}"),
                        call("POST /v1/leases/01JD/restore", "Accept: */*", "{\"pool\":\"pool\",\"permits\":1}"),
                        "DELETE /v1/leases/01JD HTTP/1.1\r\nHost: test\r\nX-Tenant-Id: a\r\n\r\n",
                        "GET /v1/leases/01JD HTTP/1.1\r\nHost: test\r\nX-Tenant-Id: a\r\n\r\n",
                        "GET /v1/pools/pool HTTP/1.1\r\nHost: test\r\nX-Tenant-Id: a\r\n\r\n",
                        "GET /v1/openapi.json HTTP/1.1\r\nHost: test\r\n\r\n")));
    }

    private static String call(String target, String field, String body) {
        return target + " HTTP/1.1\r\nHost: test\r\nX-Tenant-Id: a\r\nContent-Type: application/json\r\n" + field
                + "\r\nContent-Length: " + body.length() + "\r\n\r\n" + body;
    }

    private static Function<Random, FuzzedRequests> textOf(List<String> requests) {
        return random -> new FuzzedText(random, requests);
    }

    private static void fuzz(int port, Function<Random, FuzzedRequests> requests) throws IOException {
        long seed = FIRST_SEED;
        for (int sent = 0; sent < REQUESTS; seed++) {
            Random random = new Random(seed);
            FuzzedRequests fuzzed = requests.apply(random);
            sent += fuzzed.count();
            String shown = "seed " + seed + ": " + fuzzed;
            try {
                assertThat(fuzzed.statuses(answers(port, fuzzed.bytes(), random)))
                        .as(shown)
                        .noneMatch(status -> status >= 500 && status != 501 && status != 505);
            } catch (SocketTimeoutException e) {
                throw new AssertionError("no end of " + shown, e);
            }
            assertThat(both.upstream().heads())
                    .as(shown)
                    .allMatch(head -> SOUND.matcher(head).matches());
            both.upstream().forgetRequests();
        }
    }

    /** What comes until the connection ends. The requests come in one part, some in two. */
    private static byte[] answers(int port, byte[] requests, Random random) throws IOException {
        int cut = random.nextInt(4) == 0 ? random.nextInt(requests.length + 1) : requests.length;
        ByteArrayOutputStream answers = new ByteArrayOutputStream();
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setTcpNoDelay(true);
            socket.setSoTimeout(30_000);
            socket.getOutputStream().write(requests, 0, cut);
            socket.getOutputStream().write(requests, cut, requests.length - cut);
            socket.shutdownOutput();
            socket.getInputStream().transferTo(answers);
        } catch (SocketException closed) {
            // The gateway has closed the connection before it had read all.
        }
        return answers.toByteArray();
    }
}
