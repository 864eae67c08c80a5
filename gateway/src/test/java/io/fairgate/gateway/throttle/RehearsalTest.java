package io.fairgate.gateway.throttle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.ConnectException;
import java.net.InetAddress;
import java.net.Socket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

@ExtendWith(OutputCaptureExtension.class)
class RehearsalTest {

    @Test
    void all_calls_are_served_and_its_server_ends(CapturedOutput output) {
        Rehearsal.run();
        assertThat(output.getAll()).isEmpty();
        assertThatThrownBy(() -> new Socket(InetAddress.getLoopbackAddress(), Rehearsal.latestPort()).close())
                .isInstanceOf(ConnectException.class);
    }
}
