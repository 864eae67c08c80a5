package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** A load balancer says with the PROXY protocol where its connections come from. */
@ExtendWith(OutputCaptureExtension.class)
class ProxyProtocolTest {

    private static final byte[] SIGNATURE = HexFormat.of().parseHex("0d0a0d0a000d0a515549540a");

    @RegisterExtension
    final GatewayAndUpstream both = new GatewayAndUpstream();

    private void start(String networks, String... options) {
        both.start("""
                tenants:
                  trusted-proxies: [198.51.100.0/24]
                  proxy-protocol: [%s]
                  identify:
                    - { header: X-Tenant-Id, trusted-from: [192.0.2.0/24, "2001:db8::/32"] }
                  plans: { plan: {} }
                  members: { a: { plan: plan } }
                """.formatted(networks) + GatewayAndUpstream.FAIR_ROUTE, options);
    }

    private static byte[] bytes(Object... parts) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (Object part : parts) {
            all.writeBytes(part instanceof byte[] raw ? raw : ((String) part).getBytes(StandardCharsets.ISO_8859_1));
        }
        return all.toByteArray();
    }

    /** @param hex what follows the signature */
    private static byte[] second(String hex) {
        return bytes(SIGNATURE, HexFormat.of().parseHex(hex));
    }

    private static String get(String... fields) {
        return "GET /fair/x HTTP/1.1\r\nHost: test\r\nX-Tenant-Id: a\r\nConnection: close\r\n"
                + String.join("", Stream.of(fields).map(field -> field + "\r\n").toList()) + "\r\n";
    }

    private String answer(Object... parts) throws IOException {
        return answer(
                new Socket(InetAddress.getLoopbackAddress(), both.gateway().port()), parts);
    }

    private static String answer(Socket socket, Object... parts) throws IOException {
        try (RawClient client = new RawClient(socket)) {
            client.send(new String(bytes(parts), StandardCharsets.ISO_8859_1));
            return client.readAll();
        }
    }

    static Stream<Arguments> headers() {
        return Stream.of(
                Arguments.of("version 1", bytes("PROXY TCP4 192.0.2.7 127.0.0.1 51423 80\r\n"), "192.0.2.7", 200),
                Arguments.of("version 1, IPv6", bytes("PROXY TCP6 2001:db8::7 ::1 51423 80\r\n"), "2001:db8::7", 200),
                Arguments.of(
                        "another network", bytes("PROXY TCP4 203.0.113.7 127.0.0.1 51423 80\r\n"), "203.0.113.7", 403),
                Arguments.of("version 1, unknown", bytes("PROXY UNKNOWN\r\n"), "127.0.0.1", 403),
                Arguments.of(
                        "version 2",
                        second("21 11 000c c0000207 7f000001 c8df 0050".replace(" ", "")),
                        "192.0.2.7",
                        200),
                Arguments.of(
                        "version 2, IPv6",
                        second("21 21 0024 20010db8000000000000000000000007 00000000000000000000000000000001 c8df 0050"
                                .replace(" ", "")),
                        "2001:db8::7",
                        200),
                Arguments.of(
                        "version 2, more than addresses",
                        second("21 11 0016 c0000207 7f000001 c8df 0050 ea 0007 01020304050607".replace(" ", "")),
                        "192.0.2.7",
                        200),
                Arguments.of(
                        "version 2 of a health check",
                        second("20 11 000c c0000207 7f000001 c8df 0050".replace(" ", "")),
                        "127.0.0.1",
                        403),
                Arguments.of("version 2 without addresses", second("21000000"), "127.0.0.1", 403));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("headers")
    void the_connection_counts_as_one_from_the_address_in_the_header(
            String name, byte[] header, String address, int status, CapturedOutput output) throws IOException {
        start("127.0.0.0/8", "--fairgate.access-log=true", "--logging.level.io.fairgate=info");
        assertThat(answer(header, get())).as(name).startsWith("HTTP/1.1 " + status + " ");
        if (status == 200) {
            assertThat(both.got("X-Forwarded-For")).containsExactly("X-Forwarded-For: " + address);
        }
        RunningGateway.eventually(() ->
                assertThat(output.getOut()).contains("\"client\":\"" + address + "\",\"peer\":\"" + address + "\""));
    }

    static Stream<Arguments> others() {
        return Stream.of(
                Arguments.of("none", bytes(get())),
                Arguments.of("another word", bytes("PROXIES TCP4 192.0.2.7 127.0.0.1 51423 80\r\n", get())),
                Arguments.of("no address", bytes("PROXY TCP4 localhost 127.0.0.1 51423 80\r\n", get())),
                Arguments.of("a line that is too long", bytes("PROXY TCP4 " + "1".repeat(200))),
                Arguments.of("an unknown version", second("31 11 000c c0000207 7f000001 c8df 0050".replace(" ", ""))),
                Arguments.of("a length that is too small", second("21 11 0002 c000".replace(" ", ""))));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("others")
    void a_connection_that_begins_otherwise_is_closed(String name, byte[] sent, CapturedOutput output)
            throws IOException {
        start("127.0.0.0/8");
        assertThat(answer(sent)).as(name).isEmpty();
        assertThat(both.upstream().requests()).isEmpty();
        RunningGateway.eventually(() -> assertThat(output.getOut())
                .contains("Errors of connections that clients caused: 1 since the start")
                .contains("did not begin with a header of the PROXY protocol")
                .doesNotContain("\tat "));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "PROXY TCP4 192.0.2.7 "})
    void a_connection_whose_header_does_not_come_in_time_is_closed(String begin) throws IOException {
        start("127.0.0.0/8", "--fairgate.clients.header-time=300ms");
        assertThat(answer(begin)).isEmpty();
    }

    @Test
    void others_than_those_load_balancers_must_not_send_it() throws IOException {
        start("10.0.0.0/8");
        assertThat(answer("PROXY TCP4 192.0.2.7 127.0.0.1 51423 80\r\n", get())).startsWith("HTTP/1.1 400 ");
        assertThat(answer(get())).startsWith("HTTP/1.1 403 ");
    }

    /** The balancer is in front of an HTTP proxy, whose address it names. */
    @Test
    void what_a_trusted_proxy_behind_the_balancer_says_is_believed() throws IOException {
        start("127.0.0.0/8");
        String header = "PROXY TCP4 198.51.100.5 127.0.0.1 51423 80\r\n";
        assertThat(answer(header, get("X-Forwarded-For: 192.0.2.9"))).startsWith("HTTP/1.1 200 ");
        assertThat(both.got("X-Forwarded-For")).containsExactly("X-Forwarded-For: 192.0.2.9, 198.51.100.5");
    }

    @Test
    void the_header_may_come_byte_by_byte_and_counts_for_all_requests_of_the_connection() throws Exception {
        start("127.0.0.0/8");
        try (RawClient client = new RawClient(both.gateway().port())) {
            for (byte each : second("21 11 000c c0000207 7f000001 c8df 0050".replace(" ", ""))) {
                client.send(new String(new byte[] {each}, StandardCharsets.ISO_8859_1));
            }
            Thread.sleep(100); // The gateway reads the header and the request one by one.
            client.get("/fair/1", "a").readUntil("ok");
            client.get("/fair/2", "a").readUntil("ok");
        }
        assertThat(both.upstream().heads())
                .hasSize(2)
                .allSatisfy(head -> assertThat(head).contains("X-Forwarded-For: 192.0.2.7\r\n"));
    }

    /** @param pause milliseconds between the header and the rest: the gateway reads them at once or one by one */
    @ParameterizedTest
    @ValueSource(ints = {0, 300})
    void it_comes_before_http2_and_counts_for_all_streams(int pause) throws Exception {
        start("127.0.0.0/8");
        Socket socket =
                new Socket(InetAddress.getLoopbackAddress(), both.gateway().port());
        socket.getOutputStream().write(bytes("PROXY TCP4 192.0.2.7 127.0.0.1 51423 80\r\n"));
        Thread.sleep(pause);
        try (RawHttp2Client client = new RawHttp2Client(socket)) {
            for (int i = 0; i < 2; i++) {
                assertThat(client.get("/fair/x", "a").headers().status().toString())
                        .isEqualTo("200");
            }
        }
        assertThat(both.upstream().heads())
                .hasSize(2)
                .allSatisfy(head -> assertThat(head).contains("X-Forwarded-For: 192.0.2.7\r\n"));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 300})
    void it_comes_before_tls(int pause, @TempDir Path folder) throws Exception {
        start("127.0.0.0/8", ServerCertificate.options(folder).toArray(String[]::new));
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, InsecureTrustManagerFactory.INSTANCE.getTrustManagers(), null);
        Socket plain =
                new Socket(InetAddress.getLoopbackAddress(), both.gateway().port());
        plain.getOutputStream().write(bytes("PROXY TCP4 192.0.2.7 127.0.0.1 51423 443\r\n"));
        Thread.sleep(pause);
        SSLSocket socket = (SSLSocket) context.getSocketFactory().createSocket(plain, "localhost", 443, true);
        assertThat(answer(socket, get())).startsWith("HTTP/1.1 200 ");
        assertThat(both.got("X-Forwarded-For")).containsExactly("X-Forwarded-For: 192.0.2.7");
        assertThat(both.got("X-Forwarded-Proto")).containsExactly("X-Forwarded-Proto: https");
        assertThat(both.got("X-Forwarded-Port")).containsExactly("X-Forwarded-Port: 443");
    }

    @Test
    void the_lease_port_reads_it_and_the_management_port_does_not() throws IOException {
        start("127.0.0.0/8", LeasingTenant.ON, "--fairgate.leases.port=0");
        Socket lease = new Socket(InetAddress.getLoopbackAddress(), LeasingTenant.port(both.gateway()));
        String request = "GET /v1/pools HTTP/1.1\r\nHost: test\r\nX-Tenant-Id: a\r\nConnection: close\r\n\r\n";
        assertThat(answer(lease, "PROXY TCP4 192.0.2.7 127.0.0.1 51423 80\r\n", request))
                .startsWith("HTTP/1.1 200 ");
        Socket without = new Socket(InetAddress.getLoopbackAddress(), LeasingTenant.port(both.gateway()));
        assertThat(answer(without, request)).isEmpty();
        assertThat(Answer.to(both.gateway().managementUrl("/actuator/health/readiness"))
                        .status())
                .isEqualTo(200);
    }
}
