package io.fairgate.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.config.model.Warning;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is told of a file that may be meant as it is. */
class WarningsTest {

    private static List<String> warnings(String trustedFrom, String costArguments) {
        return PolicyReader.read("p.yml", """
                        tenants:
                          identify:
                            - header: X-Tenant-Id
                              trusted-from: %s
                        routes:
                          - id: it
                            uri: http://127.0.0.1:9
                            predicates: [ "Path=/**" ]
                            filters:
                              - name: Cost
                                args:
                                  header: X-Units
                                  %s
                        """.formatted(trustedFrom, costArguments)).warnings().stream()
                .map(Warning::toString)
                .toList();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "[10.0.0.0/8, 0.0.0.0/0]                   | [1]",
                "['::/0', 127.0.0.1]                       | [0]",
                "[0.0.0.0/1, 10.0.0.0/8, 128.0.0.0/1]      | ''",
                "['8000::/1', '::/1']                      | ''",
            })
    void networks_that_are_everywhere_are_told_of_where_they_are(String networks, String at) {
        assertThat(warnings(networks, "trusted-from: 10.0.0.0/8"))
                .containsExactly("p.yml:4: tenants.identify[0].trusted-from" + at
                        + ": warning: these networks cover every address, so any client can send this header and"
                        + " choose its tenant");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "0.0.0.0/0",
                "'10.0.0.0/8, ::/0'",
                "'0.0.0.0/1,128.0.0.0/1'",
                "'::/1, 8000::/2, c000::/2, ::1'",
            })
    void networks_that_may_give_the_cost_and_include_every_address_are_warned_about(String networks) {
        assertThat(warnings("[10.0.0.0/8]", "trusted-from: " + networks))
                .containsExactly("p.yml:13: routes[0].filters[0].args.trusted-from: warning: these networks cover every"
                        + " address, so any client can send this header and state the cost of its requests");
    }

    @Test
    void the_camel_case_of_earlier_versions_is_still_read_with_a_warning() {
        assertThat(warnings("[10.0.0.0/8]", "trustedFrom: 10.0.0.0/8"))
                .containsExactly("p.yml:13: routes[0].filters[0].args.trustedFrom: warning: old spelling, which"
                        + " still works; use trusted-from");
        assertThat(warnings("[10.0.0.0/8]", "trusted-from: 10.0.0.0/8")).isEmpty();
        assertThat(PolicyReader.read("p.yml", """
                        tenants: { identify: [ { header: X-Tenant-Id, trusted-from: [127.0.0.0/8] } ] }
                        pools: { orders: { permits: 4 } }
                        routes:
                          - id: it
                            uri: http://127.0.0.1:9
                            predicates: [ "Path=/**" ]
                            filters:
                              - { name: FairShare, args: { pool: orders, maxHold: 5s,
                                  onClientLeft: close } }
                        """).warnings())
                .extracting(warning -> warning.line() + " " + warning.key())
                .containsExactly("8 routes[0].filters[0].args.maxHold", "9 routes[0].filters[0].args.onClientLeft");
    }

    @Test
    void networks_that_exclude_some_peers_cause_no_warning() {
        assertThat(warnings("[0.0.0.0/1, 128.0.0.0/2, 127.0.0.0/8]", "trusted-from: '0.0.0.0/1, 8000::/1'"))
                .isEmpty();
    }

    private static List<String> warningsBehindProxies(String networks, String proxies) {
        return PolicyReader.read("p.yml", """
                        tenants:
                          trusted-proxies: %s
                          identify:
                            - header: X-Tenant-Id
                              trusted-from: [%s]
                        routes:
                          - id: it
                            uri: http://127.0.0.1:9
                            predicates: [ "Path=/**" ]
                            filters:
                              - { name: Cost, args: { header: X-Units, trusted-from: "%s" } }
                        """.formatted(proxies, networks, networks)).warnings().stream()
                .map(Warning::toString)
                .toList();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {"[10.0.0.0/8] | 10.1.0.0/16", "[10.1.2.3] | 10.0.0.0/8", "[127.0.0.0/8, '10.1.1.1'] | 10.0.0.0/8"})
    void networks_that_hold_trusted_proxies_are_warned_about(String proxies, String networks) {
        String because =
                " holds addresses of trusted-proxies, but of a request that a proxy passes on, the address of its"
                        + " client counts; ";
        assertThat(warningsBehindProxies(networks, proxies))
                .containsExactly(
                        "p.yml:5: tenants.identify[0].trusted-from: warning: " + networks + because
                                + "without trusted-from, the header is for the proxies alone",
                        "p.yml:11: routes[0].filters[0].args.trusted-from: warning: " + networks + because
                                + "name the networks of these clients");
    }

    @Test
    void proxies_that_do_not_name_clients_may_be_in_both() {
        assertThat(warningsBehindProxies("10.1.0.0/16", "[10.0.0.0/8]\n  proxy-headers: [X-Forwarded-Proto]"))
                .isEmpty();
        assertThat(warningsBehindProxies("10.1.0.0/16", "[10.0.0.0/8]\n  proxy-headers: [Forwarded]"))
                .hasSize(2);
    }

    @Test
    void other_networks_than_those_of_trusted_proxies_cause_no_warning() {
        assertThat(warningsBehindProxies("192.168.0.0/16", "[10.0.0.0/8, 'fd00::/8']"))
                .isEmpty();
    }

    @Test
    void proxies_that_are_everywhere_are_warned_about() {
        assertThat(warningsBehindProxies("10.0.0.0/8", "['0.0.0.0/0']").get(0))
                .isEqualTo(
                        "p.yml:2: tenants.trusted-proxies[0]: warning: these networks cover every address, so any client"
                                + " can state any address, scheme and host as its own, and name any tenant in a header without"
                                + " trusted-from");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '^',
            value = {
                "SetRequestHeader=X-Forwarded-For, 1.2.3.4                                  | X-Forwarded-For",
                "AddRequestHeader=x-real-ip,1.2.3.4                                         | x-real-ip",
                "RemoveRequestHeader=Forwarded                                              | Forwarded",
                "AddRequestHeadersIfNotPresent=X-Forwarded-Proto:https                      | X-Forwarded-Proto",
                "{ name: AddRequestHeader, args: { name: X-Forwarded-Port, value: 1 } }      | X-Forwarded-Port",
            })
    void filters_of_headers_that_the_gateway_sets_are_warned_about(String filter, String header) {
        assertThat(warningsOfFilter(filter))
                .containsExactly("p.yml:4: routes[0].filters[0]: warning: the gateway sets " + header
                        + " after all filters, so this filter has no effect");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "AddRequestHeader=X-Forwarded-Prefix, /orders",
                "AddResponseHeader=X-Forwarded-For, 1",
                "RemoveRequestHeader=X-Other",
                "PreserveHostHeader",
                "{ name: AddRequestHeader, args: { name: X-Forwarded-Prefix, value: /orders } }"
            })
    void filters_of_other_headers_cause_no_warning(String filter) {
        assertThat(warningsOfFilter(filter)).isEmpty();
    }

    private static List<String> warningsOfFilter(String filter) {
        return PolicyReader.read("p.yml", """
                        tenants: { identify: [ { header: X-Tenant-Id, trusted-from: [127.0.0.0/8] } ] }
                        routes:
                          - { id: it, uri: "http://127.0.0.1:9", predicates: [ "Path=/**" ], filters: [
                            %s ] }
                        """.formatted(filter.startsWith("{") ? filter : '"' + filter + '"'))
                .warnings()
                .stream()
                .map(Warning::toString)
                .toList();
    }
}
