package io.fairgate.policy;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Networks that together contain every address. */
class CidrTest {

    private static boolean coverEverything(String networks) {
        return Cidr.coverEverything(
                Arrays.stream(networks.split(" ")).map(Cidr::parse).toList());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "0.0.0.0/0",
                "::/0",
                "128.0.0.0/1 0.0.0.0/1",
                "::/1 8000::/1",
                "0.0.0.0/1 128.0.0.0/2 192.0.0.0/3 224.0.0.0/3",
                "0.0.0.0/1 10.0.0.0/8 10.1.0.0/16 0.0.0.0/1 128.0.0.0/1 ::1",
                "::/1 8000::/2 c000::/2 10.0.0.0/8"
            })
    void networks_that_contain_every_address_are_everywhere(String networks) {
        assertThat(coverEverything(networks)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "127.0.0.0/8",
                "0.0.0.0/1 8000::/1",
                "0.0.0.0/1 0.0.0.0/1",
                "0.0.0.0/1 64.0.0.0/2 0.0.0.0/2",
                "0.0.0.0/1 128.0.0.0/2 192.0.0.0/3 224.0.0.0/4",
                "::/1 8000::/2 c000::/3"
            })
    void networks_that_miss_an_address_are_not_everywhere(String networks) {
        assertThat(coverEverything(networks)).isFalse();
    }

    @Test
    void an_empty_list_contains_no_address() {
        assertThat(Cidr.coverEverything(List.of())).isFalse();
    }
}
