package io.fairgate.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.config.model.Warning;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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
        assertThat(warnings(networks, "trustedFrom: 10.0.0.0/8"))
                .containsExactly("p.yml:4: tenants.identify[0].trusted-from" + at
                        + ": warning: everybody may send this header, and so say whose request it is");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "trustedFrom: 0.0.0.0/0                        | trustedFrom",
                "trusted-from: '10.0.0.0/8, ::/0'              | trusted-from",
                "trustedFrom: '0.0.0.0/1,128.0.0.0/1'          | trustedFrom",
                "trustedFrom: '::/1, 8000::/2, c000::/2, ::1'  | trustedFrom",
            })
    void so_are_those_whose_peers_say_what_a_request_costs(String argument, String key) {
        assertThat(warnings("[10.0.0.0/8]", argument))
                .containsExactly("p.yml:13: routes[0].filters[0].args." + key
                        + ": warning: everybody may send this header, and so say what their requests cost");
    }

    @Test
    void networks_that_leave_somebody_out_are_not_told_of() {
        assertThat(warnings("[0.0.0.0/1, 128.0.0.0/2, 127.0.0.0/8]", "trustedFrom: '0.0.0.0/1, 8000::/1'"))
                .isEmpty();
    }
}
