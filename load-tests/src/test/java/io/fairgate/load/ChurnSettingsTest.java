package io.fairgate.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ChurnSettingsTest {

    private static ChurnSettings settings(Map<String, String> given) {
        return ChurnSettings.from(new Parameters(given::get));
    }

    @Test
    void everything_has_a_default() {
        ChurnSettings settings = settings(Map.of());
        assertThat(settings.ports().leases()).hasToString("http://localhost:8000");
        assertThat(settings.batch()).isEqualTo(new ChurnSettings.Party("batch", 50, 1));
        assertThat(settings.api()).isEqualTo(new ChurnSettings.Party("api", 50, 3));
    }

    // Addresses of RFC 5737, so that the test asks no name server.
    @ParameterizedTest
    @CsvSource({
        "gateway, http://192.0.2.1:8080",
        "leases, http://192.0.2.1:8000",
        "management, http://192.0.2.1:8081",
        "upstreamPort, 65536",
        "pool, two words",
        "path, orders",
        "batchWeight, 0",
        "apiUsers, none",
        "apiTenant, batch",
    })
    void a_bad_value_is_named(String key, String value) {
        assertThatThrownBy(() -> settings(Map.of(key, value)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith(key + ": " + value + " (expected: ");
    }
}
