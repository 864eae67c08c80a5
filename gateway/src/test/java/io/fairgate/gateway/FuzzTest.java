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
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/**
 * Requests that were changed at random: each connection ends when its client has sent all, no answer is a failure of the
 * gateway, the upstream gets sound requests only, and nothing fills the log. {@code -Dfairgate.fuzz=COUNT} sets the number of
 * requests of all tests here; a message shows the seed of a connection.
 *
 * <p>Not the port of operators: Spring (7.0) loses a buffer when a client leaves just when an endpoint has made its answer on another thread.
 */
@Tag("fuzz")
@Timeout(value = 1, unit = TimeUnit.HOURS) // For a million requests.
@ExtendWith(OutputCaptureExtension.class)
class FuzzTest {

    private static final int TESTS = 3;
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

    private static final int PAUSE_MILLIS = 5;
    private static final int MOST_MILLIS = 30_000;

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
                textOf(mostlySound("http1-requests.txt").map(Corpus.Case::text).toList()));
    }

    @Test
    void http2() throws IOException {
        List<Http2Request> requests =
                mostlySound("http2-requests.txt").map(Http2Request::of).toList();
        fuzz(both.gateway().port(), random -> new FuzzedFrames(random, requests));
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
        int answers = 0;
        int served = 0;
        for (int sent = 0; sent < REQUESTS; seed++) {
            Random random = new Random(seed);
            FuzzedRequests fuzzed = requests.apply(random);
            sent += fuzzed.count();
            String shown = "seed " + seed + ": " + fuzzed;
            try {
                List<Integer> statuses = fuzzed.statuses(answers(port, fuzzed.bytes(), random));
                answers += statuses.size();
                served += (int) statuses.stream().filter(status -> status < 300).count();
                assertThat(statuses).as(shown).noneMatch(status -> status >= 500 && status != 501 && status != 505);
            } catch (SocketTimeoutException e) {
                throw new AssertionError("no end of " + shown, e);
            }
            assertThat(both.upstream().heads())
                    .as(shown)
                    .allMatch(head -> SOUND.matcher(head).matches());
            both.upstream().forgetRequests();
        }
        // Few, because on a busy machine most clients have closed their side before the response comes.
        assertThat(answers).as("answers").isGreaterThan(REQUESTS / 100);
        assertThat(served).as("requests that were served").isGreaterThan(REQUESTS / 100);
    }

    /** Cases that are served, and a few others: behind a request that is refused, no other one of its connection is read. */
    private static Stream<Corpus.Case> mostlySound(String file) {
        AtomicInteger refused = new AtomicInteger();
        return Corpus.read(file)
                .filter(request -> request.outcome().get(0).startsWith("<- 200") || refused.incrementAndGet() % 8 == 0);
    }

    /**
     * What comes until the connection ends. The requests come in one part, some in two. The client closes its side when nothing has
     * come for a while; what was sent may be the beginning of a request.
     */
    private static byte[] answers(int port, byte[] requests, Random random) throws IOException {
        int cut = random.nextInt(4) == 0 ? random.nextInt(requests.length + 1) : requests.length;
        ByteArrayOutputStream answers = new ByteArrayOutputStream();
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setTcpNoDelay(true);
            socket.getOutputStream().write(requests, 0, cut);
            socket.getOutputStream().write(requests, cut, requests.length - cut);
            if (!endsWithin(PAUSE_MILLIS, socket, answers)) {
                socket.shutdownOutput();
                if (!endsWithin(MOST_MILLIS, socket, answers)) {
                    throw new SocketTimeoutException();
                }
            }
        } catch (SocketException closed) {
            // The gateway has closed the connection before it had read all.
        }
        return answers.toByteArray();
    }

    private static boolean endsWithin(int pauseMillis, Socket socket, ByteArrayOutputStream answers)
            throws IOException {
        socket.setSoTimeout(pauseMillis);
        try {
            socket.getInputStream().transferTo(answers);
            return true;
        } catch (SocketTimeoutException e) {
            return false;
        }
    }
}
