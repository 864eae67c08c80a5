package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairgate.gateway.start.StartFailedException;
import java.net.InetAddress;
import java.net.ServerSocket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** Invalid settings of the lease port stop the start and are reported. */
@ExtendWith(OutputCaptureExtension.class)
class LeaseSettingsTest {

    private static final String POLICY = TestPolicy.onePool("http://127.0.0.1:9", "permits: 1");

    @RegisterExtension
    final RunningGateway gateway = new RunningGateway();

    @Test
    void a_port_in_use_stops_the_start_and_is_named(CapturedOutput output) throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            assertThatThrownBy(() ->
                            gateway.start(POLICY, LeasingTenant.ON, "--fairgate.leases.port=" + taken.getLocalPort()))
                    .isInstanceOf(StartFailedException.class);
            assertThat(output.getErr())
                    .contains(
                            "Cannot bind port " + taken.getLocalPort() + " (address in use)",
                            "--fairgate.leases.port=PORT");
        }
    }

    private void assertStops(String setting) {
        assertThatThrownBy(() -> LeasingTenant.start(gateway, POLICY, "--fairgate.leases." + setting))
                .isInstanceOf(StartFailedException.class);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            port=x                 | fairgate.leases.port
            restore-window=300     | 300 (expected: a duration such as
            fencing-file=/nowhere/fencing | fairgate.leases.fencing-file
            receipt-key-file=/nowhere/keys | fairgate.leases.receipt-key-file
            address=203.0.113.1    | expected: an address of this machine
            enable=true            | fairgate.leases.enable: unknown setting
            """)
    void an_invalid_setting_stops_the_start(String setting, String told, CapturedOutput output) {
        assertStops(setting);
        assertThat(output.getErr()).contains(told).doesNotContain("\tat ");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            port=70000             | port: 70000 (expected: 0 to 65535)
            restore-window=-1s     | restore-window: PT-1S (expected: >= 0)
            max-open=0             | max-open: 0 (expected: >= 1)
            receipt-key=c2hvcnQ=   | receipt-key: key 1: 5 bytes (expected: 32 random bytes or more in Base64, as from: openssl rand -base64 32)
            receipt-key=           | receipt-key: 0 keys (expected: 1 to 8, each 32 random bytes or more in Base64, as from: openssl rand -base64 32)
            throttle.levels.x=high | throttle.levels.x: high (expected: a whole number of 32 bits)
            throttle.levels.x=4294967296 | throttle.levels.x: 4294967296 (expected: a whole number of 32 bits)
            """)
    void an_invalid_setting_is_reported_in_one_line(String setting, String told, CapturedOutput output) {
        assertStops(setting);
        assertThat(output.getErr()).isEqualToNormalizingNewlines("fairgate.leases." + told + "\n");
    }
}
