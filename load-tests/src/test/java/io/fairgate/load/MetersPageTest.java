package io.fairgate.load;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class MetersPageTest {

    private static final MetersPage PAGE = new MetersPage("""
            # TYPE fairgate_permit_seconds_total counter
            fairgate_permit_seconds_total{pool="orders",tenant="api"} 12.5
            fairgate_permit_seconds_total{pool="orders",tenant="api2"} 1.0
            fairgate_permits_in_flight{pool="orders"} 3.0
            fairgate_permits_waiting{pool="orders"} 0.0
            """);

    @Test
    void samples_are_found_by_their_tags() {
        assertThat(PAGE.permitSeconds("orders", "api")).isEqualTo(12.5);
        assertThat(PAGE.permitSeconds("orders", "api2")).isEqualTo(1);
        assertThat(PAGE.inFlight("orders")).isEqualTo(3);
        assertThat(PAGE.waiting("orders")).isZero();
    }

    @Test
    void a_missing_sample_is_not_a_number() {
        assertThat(PAGE.permitSeconds("orders", "batch")).isNaN();
        assertThat(PAGE.inFlight("reports")).isNaN();
    }
}
