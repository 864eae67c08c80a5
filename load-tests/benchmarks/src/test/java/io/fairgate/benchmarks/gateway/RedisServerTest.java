package io.fairgate.benchmarks.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import io.fairgate.benchmarks.gateway.RedisServer.CannotStartException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class RedisServerTest {

    @Test
    void a_redis_from_the_jar_answers() throws IOException {
        try (RedisServer redis = new RedisServer();
                Socket socket = new Socket(InetAddress.getLoopbackAddress(), redis.port())) {
            socket.getOutputStream().write("PING\r\n".getBytes(StandardCharsets.US_ASCII));

            assertThat(new String(socket.getInputStream().readNBytes(7), StandardCharsets.US_ASCII))
                    .isEqualTo("+PONG\r\n");
        } catch (CannotStartException e) {
            abort("the comparison leaves Redis out on this machine: " + e.getMessage());
        }
    }
}
