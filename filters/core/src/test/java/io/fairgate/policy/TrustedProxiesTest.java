package io.fairgate.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The proxies in front of the gateway, and the texts of their addresses. */
class TrustedProxiesTest {

    private static final List<Cidr> NETWORKS = List.of(Cidr.parse("10.0.0.0/8"), Cidr.parse("fd00::/8"));

    private static TrustedProxies of(String headers) {
        return new TrustedProxies(
                NETWORKS, List.of(), Arrays.stream(headers.split(", ")).toList());
    }

    private static InetAddress address(String text) {
        return Cidr.parse(text).network();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Forwarded",
                "forwarded, X-Forwarded-Port, X-Forwarded-User",
                "X-Forwarded-For, x-forwarded-proto, X-FORWARDED-HOST, X-Forwarded-Port"
            })
    void headers_of_proxies_are_accepted(String headers) {
        assertThatCode(() -> of(headers)).doesNotThrowAnyException();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Via",
                "X-Real-IP",
                "X_Forwarded_For",
                "X-Forwarded-A b",
                "",
                "X-Forwarded-For, X-Forwarded-For",
                "X-Forwarded-For, x-forwarded-for",
                "Forwarded, X-Forwarded-For",
                "x-forwarded-proto, forwarded",
                "X-Forwarded-Host, Forwarded"
            })
    void others_and_two_that_say_the_same_are_refused(String headers) {
        assertThatThrownBy(() -> of(headers)).hasMessageStartingWith("proxy-headers: ");
    }

    @Test
    void an_address_in_one_of_the_networks_is_a_proxy() {
        assertThat(List.of("10.255.0.1", "fd12::1", "::ffff:10.0.0.1"))
                .allMatch(address -> TrustedProxiesTest.of("Forwarded").contains(address(address)));
        assertThat(List.of("11.0.0.1", "fe80::1", "127.0.0.1"))
                .noneMatch(address -> TrustedProxiesTest.of("Forwarded").contains(address(address)));
        assertThat(TrustedProxies.NONE.contains(address("127.0.0.1"))).isFalse();
    }

    @Test
    void headers_that_the_gateway_writes_cannot_name_a_tenant() {
        for (String name : List.of("X-Forwarded-For", "x_forwarded_proto", "X-Real-IP", "FORWARDED")) {
            assertThatThrownBy(() -> new IdentitySource.Header(name, NETWORKS)).hasMessageStartingWith("header: ");
        }
        assertThatCode(() -> new IdentitySource.Header("X-Forwarded-User", NETWORKS))
                .doesNotThrowAnyException();
    }

    @Test
    void a_header_without_networks_needs_trusted_proxies() {
        List<IdentitySource> sources = List.of(new IdentitySource.Header("X-Tenant-Id", List.of()));
        assertThatThrownBy(() -> new Identification(sources)).hasMessageStartingWith("trusted-from: ");
        assertThatCode(() -> new Identification(sources, null, ApiKeys.NONE, Map.of(), of("Forwarded")))
                .doesNotThrowAnyException();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "0.0.0.0",
                "255.255.255.255",
                "1.2.3.4",
                "::",
                "::1",
                "2001:db8::1",
                "::ffff:1.2.3.4",
                "1:2:3:4:5:6:7:8"
            })
    void texts_of_addresses_are_read(String text) {
        assertThat(IpAddress.parse(text)).isNotNull();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "1",
                "1.2.3",
                "1.2.3.256",
                "1.2.3.4.5",
                " 1.2.3.4",
                "01.2.3.4x",
                "localhost",
                "dead.beef",
                ":",
                ":::",
                "1:2:3:4:5:6:7:8:9",
                "fe80::1%eth0",
                "[::1]",
                "1::2::3",
                "0000:0000:0000:0000:0000:0000:255.255.255.2555"
            })
    void other_texts_are_not_and_are_never_looked_up(String text) {
        assertThat(IpAddress.parse(text)).isNull();
    }

    @Test
    void a_text_that_is_longer_than_an_address_is_none() {
        assertThat(IpAddress.parse("0".repeat(46 - "::1".length()) + "::1")).isNull();
        assertThatThrownBy(() -> Cidr.parse(":".repeat(1_000_000))).isInstanceOf(IllegalArgumentException.class);
    }
}
