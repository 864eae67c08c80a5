package io.fairgate.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.URI;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LoadSettingsTest {

    private static LoadSettings settings(Map<String, String> given) {
        return LoadSettings.from(new Parameters(given::get));
    }

    @Test
    void everything_has_a_default() {
        LoadSettings settings = settings(Map.of());
        assertThat(settings.gateway()).isEqualTo(URI.create("http://localhost:8080"));
        assertThat(settings.noisy()).isEqualTo(new LoadSettings.Tenant("noisy", 64));
        assertThat(settings.quiet()).isEqualTo(new LoadSettings.Tenant("quiet", 2));
        assertThat(settings.phase()).isEqualTo(Duration.ofSeconds(10));
    }

    @ParameterizedTest
    @ValueSource(strings = {"http://127.0.0.1:9000", "http://[::1]:9000", "https://localhost"})
    void this_machine_may_be_loaded(String gateway) {
        assertThat(settings(Map.of("gateway", gateway)).gateway()).hasToString(gateway);
    }

    // Addresses of RFC 5737, so that the test asks no name server.
    @Test
    void another_machine_must_be_allowed_explicitly() {
        String remote = "http://192.0.2.1:8080";
        assertThatThrownBy(() -> settings(Map.of("gateway", remote)))
                .hasMessageContaining("gateway: http://192.0.2.1:8080 (expected: this machine's loopback");
        assertThat(settings(Map.of("gateway", remote, "allowRemote", "true")).gateway())
                .hasToString(remote);
    }

    @ParameterizedTest
    @CsvSource({
        "gateway, localhost:8080",
        "gateway, http://localhost:8080/fair",
        "noisyUsers, 0",
        "seconds, ten",
        "seconds, 3601",
        "maxRatio, 0.5",
        "maxRatio, NaN",
        "fairPath, fair",
        "plainPath, /#{plain}",
        "quietTenant, noisy",
        "quietTenant, two words",
        "allowRemote, yes",
    })
    void a_bad_value_is_named(String key, String value) {
        assertThatThrownBy(() -> settings(Map.of(key, value)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith(key + ": " + value + " (expected: ");
    }
}
