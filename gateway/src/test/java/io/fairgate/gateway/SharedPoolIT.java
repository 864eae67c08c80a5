package io.fairgate.gateway;

import static io.fairgate.gateway.RunningGateway.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.gateway.FairgateProcess.Started;
import io.fairgate.redis.connection.CutProxy;
import io.fairgate.redis.connection.RedisProcess;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two gateways as processes of their own on a real Redis, under load, while something goes wrong. The upstream counts what it works on.
 * Its work takes less time than a gateway keeps before the end of a term.
 */
@Tag("long")
class SharedPoolIT {

    private static final int PERMITS = 4;
    private static final int HOLD_MILLIS = 50;
    private static final int CLIENTS = 12;
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private static final FairgateProcess PROGRAM = new FairgateProcess();

    @RegisterExtension
    static final ScriptedUpstream UPSTREAM = new ScriptedUpstream();

    private static Path folder;
    private static RedisProcess redis;
    private static CutProxy toRedis;
    private static Started one;
    private static Started two;

    private final MeasuredWork work = new MeasuredWork();
    private RepeatedRequests atOne;
    private RepeatedRequests atTwo;
    /** Requests that may begin too late: of a gateway that stands still between its look at the clock and its request to the upstream. */
    private int late;

    @BeforeAll
    static void startAll(@TempDir Path files) throws IOException {
        folder = files;
        redis = new RedisProcess();
        toRedis = new CutProxy(redis.port());
        one = gateway("one", redis.port());
        two = gateway("two", toRedis.port());
    }

    @AfterAll
    static void killAll() throws Exception {
        PROGRAM.killAll();
        toRedis.close();
        redis.close();
    }

    private static Started gateway(String name, int redisPort) throws IOException {
        String policy = TestPolicy.onePool(UPSTREAM.url(), "permits: %d, max-wait: 20s".formatted(PERMITS));
        return PROGRAM.serve(
                Files.createDirectories(folder.resolve(name)),
                policy,
                "--fairgate.backend=redis",
                "--spring.data.redis.host=127.0.0.1",
                "--spring.data.redis.port=" + redisPort);
    }

    @BeforeEach
    void load() throws IOException {
        if (!two.isAlive()) {
            two = gateway("two", toRedis.port());
        }
        UPSTREAM.on("/fair/a", work.of("a", HOLD_MILLIS)).on("/fair/b", work.of("b", HOLD_MILLIS));
        atOne = load(one, "a");
        atTwo = load(two, "b");
        awaitServed(atOne);
        awaitServed(atTwo);
    }

    private static RepeatedRequests load(Started gateway, String tenant) {
        String url = "http://127.0.0.1:%d/fair/%s".formatted(gateway.port(), tenant);
        return new RepeatedRequests(CLIENTS, url, tenant, PATIENCE);
    }

    @AfterEach
    void end() throws Exception {
        try {
            atOne.end();
        } finally {
            atTwo.end();
        }
        assertThat(work.highest()).as("the most at once").isBetween(PERMITS, PERMITS + late);
    }

    private static void awaitServed(RepeatedRequests load) {
        int before = load.served();
        eventually(() -> assertThat(load.served()).as("%s", load.outcomes()).isGreaterThan(before + 50));
    }

    /** Until the gateway has all permits. */
    private static void awaitAll(Started gateway) {
        eventually(() -> assertThat(MetricsPage.parse(
                                Answer.to("http://127.0.0.1:%d/actuator/prometheus".formatted(gateway.managementPort()))
                                        .body())
                        .value("fairgate_slice_permits", "pool", "pool"))
                .isEqualTo(PERMITS));
    }

    @Test
    void a_gateway_is_killed() throws Exception {
        int before = atOne.count("503");
        two.signal("KILL").awaitExit();
        awaitAll(one);
        awaitServed(atOne);
        assertThat(atOne.count("503")).isEqualTo(before);
    }

    @Test
    void a_gateway_ends() throws Exception {
        int before = atOne.count("503");
        assertThat(two.terminate().awaitExit()).isZero();
        awaitAll(one);
        awaitServed(atOne);
        assertThat(atOne.count("503")).isEqualTo(before);
    }

    @Test
    void a_gateway_stands_still_for_longer_than_its_term() throws Exception {
        late = PERMITS / 2;
        two.signal("STOP");
        awaitAll(one);
        awaitServed(atOne);
        two.signal("CONT");
        awaitServed(atTwo);
        awaitServed(atOne);
    }

    @Test
    void redis_is_killed_and_started_again() throws Exception {
        redis.close();
        eventually(() -> assertThat(atOne.count("503")).isPositive());
        eventually(() -> assertThat(atTwo.count("503")).isPositive());
        redis = new RedisProcess(redis.port());
        awaitServed(atOne);
        awaitServed(atTwo);
    }

    @Test
    void redis_loses_everything() {
        RedisClient client = RedisClient.create(RedisURI.create("127.0.0.1", redis.port()));
        for (int i = 0; i < 3; i++) {
            client.connect().sync().flushall();
            awaitServed(atOne);
            awaitServed(atTwo);
        }
        client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
    }

    @Test
    void the_network_between_a_gateway_and_redis_goes_silent() {
        int before = toRedis.accepted();
        toRedis.silence();
        eventually(() -> assertThat(toRedis.accepted()).isGreaterThan(before));
        awaitServed(atTwo);
        awaitServed(atOne);
    }
}
