package io.fairgate.spring.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.policy.Cidr;
import io.fairgate.policy.IpAddress;
import io.fairgate.policy.TrustedProxies;
import io.fairgate.spring.exchange.OriginalRequest;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is believed of a request that proxies have passed on. The proxies are in 10.0.0.0/8 and fd00::/8. */
class OriginalRequestsTest {

    private static final List<Cidr> PROXIES = List.of(Cidr.parse("10.0.0.0/8"), Cidr.parse("fd00::/8"));
    private static final List<String> ALL = List.of(
            TrustedProxies.FOR, TrustedProxies.PROTO, TrustedProxies.HOST, TrustedProxies.PORT, "X-Forwarded-User");
    private static final List<String> STANDARD = List.of(TrustedProxies.FORWARDED, TrustedProxies.PORT);

    private static ReceivedRequest received(String peer, String... fields) {
        HttpHeaders headers = new DefaultHttpHeaders().add("Host", "inner.test:8080");
        for (String field : fields) {
            int colon = field.indexOf(':');
            headers.add(
                    field.substring(0, colon).strip(),
                    field.substring(colon + 1).strip());
        }
        return new ReceivedRequest(IpAddress.parse(peer), "http", headers::getAll);
    }

    private static OriginalRequest original(List<String> headers, String peer, String... fields) {
        return OriginalRequests.find(received(peer, fields), new TrustedProxies(PROXIES, List.of(), headers));
    }

    private static String[] fields(String text) {
        return Arrays.stream(text.split("~")).filter(field -> !field.isBlank()).toArray(String[]::new);
    }

    private static String way(OriginalRequest original) {
        return String.join(" ", original.way());
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(delimiter = '|', nullValues = "none", quoteCharacter = '\'', textBlock = """
            a client without a proxy             | 192.0.2.1 |                                             | 192.0.2.1               | 192.0.2.1
            a client that invents an address     | 192.0.2.1 | X-Forwarded-For: 10.0.0.1, 198.51.100.1     | 192.0.2.1               | 192.0.2.1
            a proxy that says nothing            | 10.0.0.1  |                                             | 10.0.0.1                | 10.0.0.1
            one proxy                            | 10.0.0.1  | X-Forwarded-For: 192.0.2.1                  | 192.0.2.1 10.0.0.1      | 192.0.2.1
            two proxies                          | 10.0.0.1  | X-Forwarded-For: 192.0.2.1, 10.9.9.9        | 192.0.2.1 10.9.9.9 10.0.0.1 | 192.0.2.1
            two proxies, a line each             | 10.0.0.1  | X-Forwarded-For: 192.0.2.1~x-forwarded-for: 10.9.9.9 | 192.0.2.1 10.9.9.9 10.0.0.1 | 192.0.2.1
            what the client wrote before         | 10.0.0.1  | X-Forwarded-For: 198.51.100.1, 10.1.1.1, 192.0.2.1 | 192.0.2.1 10.0.0.1 | 192.0.2.1
            a line that the client wrote         | 10.0.0.1  | X-Forwarded-For: 198.51.100.1~X-Forwarded-For: 192.0.2.1 | 192.0.2.1 10.0.0.1 | 192.0.2.1
            a client within the proxies' network | 10.0.0.1  | X-Forwarded-For: 10.7.7.7                   | 10.7.7.7 10.0.0.1       | 10.7.7.7
            a port                               | 10.0.0.1  | X-Forwarded-For: 192.0.2.1:51423            | 192.0.2.1 10.0.0.1      | 192.0.2.1
            IPv6                                 | fd00::1   | X-Forwarded-For: 2001:DB8:0:0::7            | 2001:db8::7 fd00::1     | 2001:db8::7
            IPv6 in brackets, with a port        | fd00::1   | X-Forwarded-For: [2001:db8::7]:443          | 2001:db8::7 fd00::1     | 2001:db8::7
            IPv4 as IPv6                         | 10.0.0.1  | X-Forwarded-For: ::ffff:192.0.2.1           | 192.0.2.1 10.0.0.1      | 192.0.2.1
            a proxy's IPv4 as IPv6               | 10.0.0.1  | X-Forwarded-For: 192.0.2.1, ::ffff:10.2.3.4 | 192.0.2.1 10.2.3.4 10.0.0.1 | 192.0.2.1
            an address that is not known         | 10.0.0.1  | X-Forwarded-For: 192.0.2.1, unknown         | unknown 10.0.0.1        | none
            a name                               | 10.0.0.1  | X-Forwarded-For: localhost                  | unknown 10.0.0.1        | none
            more than an address                 | 10.0.0.1  | X-Forwarded-For: [2001:db8::7]x             | unknown 10.0.0.1        | none
            an address in brackets               | 10.0.0.1  | X-Forwarded-For: [192.0.2.1]                | 192.0.2.1 10.0.0.1      | 192.0.2.1
            an open bracket                      | 10.0.0.1  | X-Forwarded-For: [2001:db8::7               | unknown 10.0.0.1        | none
            a number                             | 10.0.0.1  | X-Forwarded-For: 3221225985                 | unknown 10.0.0.1        | none
            a zone                               | 10.0.0.1  | X-Forwarded-For: fe80::1%eth0               | unknown 10.0.0.1        | none
            empty elements                       | 10.0.0.1  | X-Forwarded-For: ,192.0.2.1, ,              | 192.0.2.1 10.0.0.1      | 192.0.2.1
            only empty elements                  | 10.0.0.1  | X-Forwarded-For: , ,~X-Forwarded-For:       | 10.0.0.1                | 10.0.0.1
            another host's own address           | 10.0.0.1  | X-Forwarded-For: 127.0.0.1                  | unknown 10.0.0.1        | none
            another host's own, of IPv6          | 10.0.0.1  | X-Forwarded-For: ::1                        | unknown 10.0.0.1        | none
            an address of another link           | fd00::1   | X-Forwarded-For: fe80::7                    | unknown fd00::1         | none
            no address                           | 10.0.0.1  | X-Forwarded-For: 0.0.0.0                    | unknown 10.0.0.1        | none
            another spelling                     | 10.0.0.1  | X_Forwarded_For: 192.0.2.1                  | 10.0.0.1                | 10.0.0.1
            a header that the proxies do not write | 10.0.0.1 | Forwarded: for=192.0.2.1                   | 10.0.0.1                | 10.0.0.1
            """)
    void the_client_is_the_first_address_on_the_way_back_that_is_no_proxy(
            String name, String peer, @Nullable String fields, String way, @Nullable String client) {
        OriginalRequest found = original(ALL, peer, fields(fields == null ? "" : fields));
        assertThat(way(found)).as(name).isEqualTo(way);
        assertThat(found.client()).isEqualTo(client == null ? null : IpAddress.parse(client));
        assertThat(found.clientText()).isEqualTo(client == null ? "unknown" : client);
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(delimiter = '|', quoteCharacter = '^', textBlock = """
            no element                   | Forwarded:                                     | 10.0.0.1                    | http  | inner.test:8080 | 8080
            one proxy                    | Forwarded: for=192.0.2.1;proto=https;host=a.test | 192.0.2.1 10.0.0.1        | https | a.test | 443
            upper case and spaces        | Forwarded: For="192.0.2.1" ; PROTO=HTTPS ;host="a.test:444" ;; | 192.0.2.1 10.0.0.1 | https | a.test:444 | 444
            what the first proxy says    | Forwarded: for=192.0.2.1;proto=https;host=a.test, for=10.2.2.2;proto=http;host=b.test | 192.0.2.1 10.2.2.2 10.0.0.1 | https | a.test | 443
            a line each                  | Forwarded: for=192.0.2.1;proto=https~Forwarded: for=10.2.2.2;proto=http | 192.0.2.1 10.2.2.2 10.0.0.1 | https | inner.test:8080 | 8080
            what the client wrote before | Forwarded: for=10.3.3.3;host=evil.test, for=192.0.2.1;proto=https | 192.0.2.1 10.0.0.1 | https | inner.test:8080 | 8080
            an open quote of the client  | Forwarded: for="evil, for=192.0.2.1;proto=https;host=a.test | unknown 10.0.0.1 | http | inner.test:8080 | 8080
            an open quote in a line of its own | Forwarded: for="evil~Forwarded: for=192.0.2.1;host=a.test | 192.0.2.1 10.0.0.1 | http | a.test | 80
            quotes with commas           | Forwarded: by="a,b;c\\"d";for="[2001:db8::7]:99" | 2001:db8::7 10.0.0.1     | http  | inner.test:8080 | 8080
            a value without quotes       | Forwarded: for=[2001:db8::7]:99;host=a.test:81 | 2001:db8::7 10.0.0.1        | http  | a.test:81 | 81
            a hidden node                | Forwarded: for=_gazonk;proto=https             | unknown 10.0.0.1            | https | inner.test:8080 | 8080
            no node                      | Forwarded: proto=https;host=a.test             | unknown 10.0.0.1            | https | a.test | 443
            a pair twice                 | Forwarded: for=192.0.2.1;for=10.4.4.4          | unknown 10.0.0.1            | http  | inner.test:8080 | 8080
            no value                     | Forwarded: for=;proto=https                    | unknown 10.0.0.1            | http  | inner.test:8080 | 8080
            no name                      | Forwarded: =192.0.2.1                          | unknown 10.0.0.1            | http  | inner.test:8080 | 8080
            a word alone                 | Forwarded: for                                 | unknown 10.0.0.1            | http  | inner.test:8080 | 8080
            two values                   | Forwarded: for=192.0.2.1 10.0.0.1              | unknown 10.0.0.1            | http  | inner.test:8080 | 8080
            an escape at the end         | Forwarded: for="\\                              | unknown 10.0.0.1            | http  | inner.test:8080 | 8080
            a host that is none          | Forwarded: for=192.0.2.1;host="a.test/x"       | 192.0.2.1 10.0.0.1          | http  | inner.test:8080 | 8080
            a port by the other header   | Forwarded: for=192.0.2.1;host=a.test~X-Forwarded-Port: 8443 | 192.0.2.1 10.0.0.1 | http | a.test | 8443
            a header that says the same  | Forwarded: for=192.0.2.1~X-Forwarded-Proto: https~X-Forwarded-Host: evil.test | 192.0.2.1 10.0.0.1 | http | inner.test:8080 | 8080
            """)
    void the_standard_header_says_of_the_first_proxy_what_it_received(
            String name, String fields, String way, String scheme, String host, int port) {
        OriginalRequest found = original(STANDARD, "10.0.0.1", fields(fields.replace("\\\\", "\\")));
        assertThat(way(found)).as(name).isEqualTo(way);
        assertThat(found.scheme()).isEqualTo(scheme);
        assertThat(found.host()).isEqualTo(host);
        assertThat(found.port()).isEqualTo(port);
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(delimiter = '|', quoteCharacter = '^', textBlock = """
            nothing                | X-Other: 1                                       | http  | inner.test:8080 | 8080
            a scheme               | X-Forwarded-Proto: HTTPS                         | https | inner.test:8080 | 8080
            of a WebSocket         | X-Forwarded-Proto: wss~X-Forwarded-Host: a.test  | wss   | a.test          | 443
            an unknown scheme      | X-Forwarded-Proto: gopher                        | http  | inner.test:8080 | 8080
            the last scheme        | X-Forwarded-Proto: https, http                   | http  | inner.test:8080 | 8080
            the last line          | X-Forwarded-Proto: http~X-Forwarded-Proto: https | https | inner.test:8080 | 8080
            a host                 | X-Forwarded-Host: a.test~X-Forwarded-Proto: https | https | a.test         | 443
            a host with a port     | X-Forwarded-Host: a.test:81                      | http  | a.test:81       | 81
            an IPv6 host           | X-Forwarded-Host: [2001:db8::7]:82               | http  | [2001:db8::7]:82 | 82
            the last host          | X-Forwarded-Host: evil.test, a.test              | http  | a.test          | 80
            a host that is none    | X-Forwarded-Host: a.test/x                       | http  | inner.test:8080 | 8080
            what ends a value      | X-Forwarded-Host: a;for=1                        | http  | inner.test:8080 | 8080
            a quote                | X-Forwarded-Host: a"b                            | http  | inner.test:8080 | 8080
            a port                 | X-Forwarded-Port: 8443                           | http  | inner.test:8080 | 8443
            a port that is none    | X-Forwarded-Port: 65536                          | http  | inner.test:8080 | 8080
            port 0                 | X-Forwarded-Port: 0                              | http  | inner.test:8080 | 8080
            an empty port          | X-Forwarded-Port:                                | http  | inner.test:8080 | 8080
            a port with a sign     | X-Forwarded-Port: +80                            | http  | inner.test:8080 | 8080
            """)
    void the_scheme_the_host_and_the_port_are_what_the_nearest_proxy_wrote(
            String name, String fields, String scheme, String host, int port) {
        OriginalRequest found = original(ALL, "10.0.0.1", fields(fields));
        assertThat(found.scheme()).as(name).isEqualTo(scheme);
        assertThat(found.host()).isEqualTo(host);
        assertThat(found.port()).isEqualTo(port);
        OriginalRequest direct = original(ALL, "192.0.2.1", fields(fields));
        assertThat(List.of(direct.scheme(), direct.host(), direct.port()))
                .containsExactly("http", "inner.test:8080", 8080);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "X-Forwarded-Port", "Forwarded"})
    void a_header_is_believed_only_if_the_proxies_write_it(String header) {
        String[] told = {
            "X-Forwarded-For: 192.0.2.1",
            "X-Forwarded-Proto: https",
            "X-Forwarded-Host: told.test",
            "X-Forwarded-Port: 99",
            "Forwarded: for=192.0.2.1;proto=https;host=told.test"
        };
        List<String> others = ALL.stream().filter(each -> !each.equals(header)).toList();
        OriginalRequest found = original(others, "10.0.0.1", told);
        assertThat(way(found)).isEqualTo(header.equals("X-Forwarded-For") ? "10.0.0.1" : "192.0.2.1 10.0.0.1");
        assertThat(found.scheme()).isEqualTo(header.equals("X-Forwarded-Proto") ? "http" : "https");
        assertThat(found.host()).isEqualTo(header.equals("X-Forwarded-Host") ? "inner.test:8080" : "told.test");
        assertThat(found.port()).isEqualTo(header.equals("X-Forwarded-Port") ? 443 : 99);
    }

    @Test
    void a_proxy_on_this_host_may_name_an_address_of_this_host() {
        TrustedProxies local = new TrustedProxies(List.of(Cidr.parse("127.0.0.1")), List.of(), ALL);
        OriginalRequest found = OriginalRequests.find(received("127.0.0.1", "X-Forwarded-For: ::1"), local);
        assertThat(way(found)).isEqualTo("::1 127.0.0.1");
    }

    /** RFC 9110 allows it in Host; some programs take the semicolon for the end of a quoted value. */
    @ParameterizedTest
    @ValueSource(strings = {"a.test;for=192.0.2.1", "a(b)", "a=b", "a'b", "a~b", "a%20b", "a,b", "a b", "[::1", ""})
    void a_host_that_an_upstream_could_misread_is_left_out(String host) {
        ReceivedRequest received =
                new ReceivedRequest(null, "http", name -> name.equals("Host") ? List.of(host) : List.of());
        assertThat(OriginalRequests.find(received, TrustedProxies.NONE).host()).isEmpty();
    }

    @Test
    void a_host_is_no_longer_than_a_name_can_be() {
        for (int length : new int[] {253, 254, 7000}) {
            String host = "a".repeat(length) + ":65535";
            ReceivedRequest received = new ReceivedRequest(null, "http", name -> List.of(host));
            assertThat(OriginalRequests.find(received, TrustedProxies.NONE).host())
                    .isEqualTo(length == 253 ? host : "");
        }
    }

    /** As long as a head may be at most. With a parser that goes back at each character, the build would stand still here. */
    @Test
    void long_values_are_read() {
        int length = 65_000;
        for (String part : List.of("1:", ",", "[", "f", "1.", "10.0.0.1,")) {
            String text = part.repeat(length);
            assertThat(original(ALL, "10.0.0.1", "X-Forwarded-For: " + text + "x", "X-Forwarded-Host: " + text + "/")
                            .host())
                    .isEqualTo("inner.test:8080");
        }
        for (String part : List.of("for=\"", ";", ",", "for=a;", "a=\"\\\"", "for=\"10.0.0.1\",", "a")) {
            assertThat(original(STANDARD, "10.0.0.1", "Forwarded: " + part.repeat(length) + "\"")
                            .host())
                    .isEqualTo("inner.test:8080");
        }
    }
}
