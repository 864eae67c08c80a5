package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.gateway.start.StartFailedException;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

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
            backend=rediss                         | fairgate.backend
            redis.failover=-1s                     | fairgate.redis.failover: PT-1S (expected: >= 0)
            redis.outage=open                      | fairgate.redis.outage
            redis.outage=reserve                   | fairgate.redis.gateways: missing (expected: with fairgate.redis.outage=reserve the most gateways that run at once
            redis.gateways=0                       | fairgate.redis.gateways: 0 (expected: 1 or more)
            redis.gateways=2                       | fairgate.redis.gateways: 2 (expected: no value with fairgate.redis.outage=fail-closed
            redis.reserve=0                        | fairgate.redis.reserve: 0.0 (expected: a fraction of the pool above 0
            redis.reserve=0.3                      | fairgate.redis.reserve: 0.3 (expected: no value without fairgate.redis.outage=reserve)
            redis.quota-outage=open                | fairgate.redis.quota-outage
            redis.failovr=1s                       | did you mean redis.failover?
            leases.fencing-file=tokens             | fairgate.leases.fencing-file: tokens (expected: none with fairgate.backend=redis
            quotas.journal=usage                   | fairgate.quotas.journal: usage (expected: none with fairgate.backend=redis
            """)
    void a_mistake_below_fairgate_is_named(String option, String message) {
        String[] options = option.startsWith("backend")
                ? new String[] {"--fairgate." + option}
                : new String[] {"--fairgate.backend=redis", "--fairgate." + option};
        assertThat(refusal(options)).contains(message);
    }

    @ParameterizedTest
    @ValueSource(strings = {"outage=optimistic", "quota-outage=fail-open"})
    void a_policy_for_outages_is_refused_without_redis(String option) {
        assertThat(refusal("--fairgate.redis." + option))
                .contains(": set with fairgate.backend=embedded (expected: no value, or fairgate.backend=redis)");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            timeout=1s                             | timeout: unknown setting
            pasword=s3cret                         | pasword: unknown setting
            url=localhost                          | url: malformed (expected: redis://USER:PASSWORD@HOST:PORT
            url=redis://x host=y                   | host: set beside url (expected: one of them)
            url=redis://x password=s3cret          | password: set beside url (expected: one of them)
            url=redis://:s3cret@x database=1       | database: set beside url (expected: one of them)
            username=u                             | password: missing (expected: the password of u)
            sentinel.nodes=a:1                     | sentinel.master: missing (expected: the name of the server)
            sentinel.master=m                      | sentinel.nodes: none (expected: HOST:PORT, or several)
            sentinel.master=m sentinel.nodes=a:b   | sentinel.nodes: a:b (expected: HOST:PORT)
            sentinel.master=m sentinel.nodes=a host=x | host: set beside sentinel (expected: one of them)
            cluster.nodes=a:0                      | cluster.nodes: a:0 (expected: HOST:PORT)
            cluster.nodes=a database=1             | database: set beside cluster (expected: one of them)
            """)
    void a_mistake_in_where_redis_is_is_named_and_no_secret_is_shown(String settings, String message) {
        List<String> options = new ArrayList<>(List.of("--fairgate.backend=redis"));
        for (String setting : settings.split(" ", -1)) {
            options.add("--spring.data.redis." + setting);
        }
        assertThat(refusal(options.toArray(String[]::new)))
                .contains("spring.data.redis." + message)
                .doesNotContain("s3cret");
    }
}
