package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.gateway.start.StartFailedException;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Settings of pools in Redis with which the gateway does not start. */
class SharedPoolSettingsTest {

    @RegisterExtension
    final RunningGateway gateway = new RunningGateway();

    private String refusal(String... options) {
        PrintStream before = System.err;
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        System.setErr(new PrintStream(err, true, StandardCharsets.UTF_8));
        try {
            Assertions.assertThatExceptionOfType(StartFailedException.class)
                    .isThrownBy(() -> gateway.start(TestPolicy.onePool("http://127.0.0.1:1", "permits: 4"), options));
        } finally {
            System.setErr(before);
        }
        return err.toString(StandardCharsets.UTF_8);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            --fairgate.backend=rediss             | fairgate.backend
            --fairgate.redis.failover=-1s         | fairgate.redis.failover: PT-1S (expected: >= 0)
            --fairgate.redis.failovr=1s           | did you mean redis.failover?
            --fairgate.leases.enabled=true        | fairgate.leases.enabled: true (expected: false with fairgate.backend=redis
            --fairgate.leases.throttle.enabled=true | fairgate.leases.throttle.enabled: true (expected: false with
            --spring.data.redis.timeout=1s        | spring.data.redis.timeout
            --spring.data.redis.url=localhost     | spring.data.redis.url: malformed (expected: redis://USER:PASSWORD@HOST:PORT
            --spring.data.redis.sentinel.nodes=a:b | spring.data.redis.sentinel
            --spring.data.redis.cluster.nodes=a:b | spring.data.redis.cluster.nodes: a:b (expected: HOST:PORT)
            """)
    void a_mistake_is_named(String option, String message) {
        String[] options = option.startsWith("--fairgate.backend")
                ? new String[] {option}
                : new String[] {"--fairgate.backend=redis", option};
        assertThat(refusal(options)).contains(message);
    }
}
