package io.fairgate.lease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class LeaseIdTest {

    @Test
    void an_id_is_written_as_32_digits_and_read_back() {
        LeaseId id = new LeaseId(1, -1);
        assertThat(id).hasToString("0000000000000001ffffffffffffffff");
        assertThat(LeaseId.parse(id.toString())).isEqualTo(id);
        assertThat(LeaseId.parse("0000000000000001fffffffffffffffg")).isNull();
        assertThat(LeaseId.parse("1")).isNull();
        assertThat(LeaseId.parse("0000000000000001FFFFFFFFFFFFFFFF")).isNull();
    }

    @Test
    void a_request_for_no_permits_is_refused() {
        assertThatThrownBy(() -> LeaseRequest.of("pool", 0, Duration.ZERO, null))
                .hasMessage("permits: 0 (expected: 1 to 1000000)");
    }
}
