package io.fairgate.spring.forward;

import static io.fairgate.spring.forward.RecordingClient.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.spring.forward.GatewayPair.Observation;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the upstream learns about the proxies that a request has passed; all clients here are trusted proxies. */
class ProxiesTest {

    private static final Pattern FORWARDED = Pattern.compile("(?i)x.forwarded.*|forwarded|x.real.ip");

    @RegisterExtension
    static final GatewayPair gateways = new GatewayPair(new RecordingUpstream())
            .set("fairgate.policy.tenants.trusted-proxies", "127.0.0.0/8,10.0.0.0/8")
            .set(
                    "fairgate.policy.tenants.proxy-headers",
                    "X-Forwarded-For,X-Forwarded-Proto,X-Forwarded-User,X-Forwarded-Key,X-Forwarded-Tenant")
            .set("fairgate.policy.tenants.identify[0].header", "X-Other")
            .set("fairgate.policy.tenants.identify[1].api-key.header", "X-Forwarded-Key")
            .set("fairgate.policy.tenants.identify[2].header", "X-Forwarded-Tenant")
            .set("fairgate.policy.tenants.identify[2].trusted-from", "192.0.2.0/24")
            .set("fairgate.policy.tenants.identify[3].header", "X-Tenant-Id")
            .route(
                    "set",
                    "Path=/set/**",
                    "SetRequestHeader=X-Forwarded-For, 198.51.100.1",
                    "AddRequestHeader=X-Real-IP, 1",
                    "AddRequestHeader=X-Forwarded-Prefix, /set",
                    "SetRequestHeader=X-Forwarded-User, filter")
            .route("all", "Path=/**");

    /** To it no client is a proxy. */
    @RegisterExtension
    static final GatewayPair withoutProxies = new GatewayPair(new RecordingUpstream())
            .set("fairgate.policy.tenants.trusted-proxies", "10.0.0.0/8")
            .set("fairgate.policy.tenants.proxy-headers", "X-Forwarded-For,X-Forwarded-User")
            .route("set", "Path=/set/**", "AddRequestHeader=X-Forwarded-Prefix, /set")
            .route("all", "Path=/**");

    private static Observation observe(String target, String... fields) throws Exception {
        return observe(gateways, target, fields);
    }

    private static Observation observe(GatewayPair pair, String target, String... fields) throws Exception {
        return pair.observe(
                RecordingUpstream.OK,
                client -> client.send(request("GET", target, fields)).response());
    }

    /** The fields of the request that say which way it came, in alphabetical order. */
    private static List<String> forwarded(Observation observed) {
        return observed.upstream()
                .lines()
                .map(String::strip)
                .filter(line -> line.indexOf(':') > 0
                        && FORWARDED
                                .matcher(line.substring(0, line.indexOf(':')))
                                .matches())
                .sorted()
                .toList();
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(delimiter = '|', quoteCharacter = '^', textBlock = """
            nothing             | | Forwarded: for=127.0.0.1;proto=http;host="client.test"~X-Forwarded-For: 127.0.0.1~X-Forwarded-Host: client.test~X-Forwarded-Port: 80~X-Forwarded-Proto: http
            one proxy           | X-Forwarded-For: 192.0.2.1~X-Forwarded-Proto: https | Forwarded: for=192.0.2.1;proto=https;host="client.test", for=127.0.0.1~X-Forwarded-For: 192.0.2.1, 127.0.0.1~X-Forwarded-Host: client.test~X-Forwarded-Port: 443~X-Forwarded-Proto: https
            two, of IPv6        | X-Forwarded-For: 2001:db8::1, 10.0.0.1 | Forwarded: for="[2001:db8::1]";proto=http;host="client.test", for=10.0.0.1, for=127.0.0.1~X-Forwarded-For: 2001:db8::1, 10.0.0.1, 127.0.0.1~X-Forwarded-Host: client.test~X-Forwarded-Port: 80~X-Forwarded-Proto: http
            lies                | X-Forwarded-For: 198.51.100.1, 192.0.2.1~X-Forwarded-Host: evil.test~X-Forwarded-Port: 1~Forwarded: for=198.51.100.1~X-Forwarded-Prefix: /evil~X_Forwarded_For: 198.51.100.1~X.Forwarded.User: evil~x-real-ip: 198.51.100.1 | Forwarded: for=192.0.2.1;proto=http;host="client.test", for=127.0.0.1~X-Forwarded-For: 192.0.2.1, 127.0.0.1~X-Forwarded-Host: client.test~X-Forwarded-Port: 80~X-Forwarded-Proto: http~X-Real-IP: 192.0.2.1
            what else they say  | X-Forwarded-User: u~X-Forwarded-Email: e@a.test | Forwarded: for=127.0.0.1;proto=http;host="client.test"~X-Forwarded-For: 127.0.0.1~X-Forwarded-Host: client.test~X-Forwarded-Port: 80~X-Forwarded-Proto: http~X-Forwarded-User: u
            what they add to    | X-Forwarded-User: evil~X-Forwarded-User: u | Forwarded: for=127.0.0.1;proto=http;host="client.test"~X-Forwarded-For: 127.0.0.1~X-Forwarded-Host: client.test~X-Forwarded-Port: 80~X-Forwarded-Proto: http~X-Forwarded-User: u
            not known           | X-Forwarded-For: unknown | Forwarded: for=unknown;proto=http;host="client.test", for=127.0.0.1~X-Forwarded-For: unknown, 127.0.0.1~X-Forwarded-Host: client.test~X-Forwarded-Port: 80~X-Forwarded-Proto: http
            of the connection   | Connection: X-Forwarded-For, X-Forwarded-User~X-Forwarded-For: 192.0.2.1~X-Forwarded-User: u | Forwarded: for=192.0.2.1;proto=http;host="client.test", for=127.0.0.1~X-Forwarded-For: 192.0.2.1, 127.0.0.1~X-Forwarded-Host: client.test~X-Forwarded-Port: 80~X-Forwarded-Proto: http~X-Forwarded-User: u
            """)
    void the_upstream_learns_what_the_gateway_believes(String name, @Nullable String fields, String expected)
            throws Exception {
        Observation observed = observe("/x", fields == null ? new String[0] : fields.split("~"));
        assertThat(forwarded(observed)).as(name).containsExactly(expected.split("~"));
    }

    @Test
    void a_filter_of_a_route_can_set_only_what_the_gateway_does_not_set() throws Exception {
        assertThat(forwarded(observe("/set/x", "X-Forwarded-For: 192.0.2.1", "X-Forwarded-Prefix: /evil")))
                .contains(
                        "X-Forwarded-For: 192.0.2.1, 127.0.0.1",
                        "X-Forwarded-Prefix: /set",
                        "X-Forwarded-User: filter",
                        "X-Real-IP: 192.0.2.1")
                .doesNotContain("X-Forwarded-Prefix: /evil");
    }

    @Test
    void what_a_client_that_is_no_proxy_says_is_left_out() throws Exception {
        String[] lies = {
            "X-Forwarded-For: 192.0.2.1",
            "X-Forwarded-User: evil",
            "X-Forwarded-Prefix: /evil",
            "X_Forwarded_User: evil"
        };
        List<String> expected = List.of(
                "Forwarded: for=127.0.0.1;proto=http;host=\"client.test\"",
                "X-Forwarded-For: 127.0.0.1",
                "X-Forwarded-Host: client.test",
                "X-Forwarded-Port: 80",
                "X-Forwarded-Proto: http");
        assertThat(forwarded(observe(withoutProxies, "/x", lies))).isEqualTo(expected);
        assertThat(forwarded(observe(withoutProxies, "/set/x", lies)))
                .hasSize(6)
                .containsAll(expected)
                .contains("X-Forwarded-Prefix: /set");
    }

    @Test
    void a_credential_is_not_forwarded_although_a_proxy_wrote_it() throws Exception {
        assertThat(observe("/x", "X-Forwarded-For: 192.0.2.1", "X-Forwarded-Tenant: a")
                        .upstream())
                .contains("X-Account: a")
                .doesNotContain("X-Forwarded-Tenant");
    }
}
