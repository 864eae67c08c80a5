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
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two gateways as processes of their own on a real Redis, under load, while something goes wrong. The upstream counts what it works on.
 * Its work takes less time than a gateway keeps before the end of a term.
 */
class SharedPoolIT {

    private static final int PERMITS = 4;
    private static final int HOLD_MILLIS = 50;
    private static final int CLIENTS = 12;
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @RegisterExtension
    final FairgateProcess program = new FairgateProcess();

    @RegisterExtension
    final ScriptedUpstream upstream = new ScriptedUpstream();

    private final MeasuredWork work = new MeasuredWork();
    private final List<RepeatedRequests> loads = new ArrayList<>();
    private RedisProcess redis;
    private CutProxy toRedis;
    private Started one;
    private Started two;
    private RepeatedRequests atOne;
    private RepeatedRequests atTwo;

    @BeforeEach
    void start(@TempDir Path folder) throws IOException {
        redis = new RedisProcess();
        toRedis = new CutProxy(redis.port());
        upstream.on("/fair/a", work.of("a", HOLD_MILLIS)).on("/fair/b", work.of("b", HOLD_MILLIS));
        one = gateway(folder.resolve("one"), redis.port());
        two = gateway(folder.resolve("two"), toRedis.port());
        atOne = load(one, "a");
        atTwo = load(two, "b");
        awaitServed(atOne);
        awaitServed(atTwo);
    }

    private Started gateway(Path folder, int redisPort) throws IOException {
        Files.createDirectory(folder);
        String policy = TestPolicy.onePool(upstream.url(), "permits: %d, max-wait: 20s".formatted(PERMITS));
        return program.serve(
                folder,
                policy,
                "--fairgate.backend=redis",
                "--spring.data.redis.host=127.0.0.1",
                "--spring.data.redis.port=" + redisPort);
    }

    private RepeatedRequests load(Started gateway, String tenant) {
        String url = "http://127.0.0.1:%d/fair/%s".formatted(gateway.port(), tenant);
        RepeatedRequests load = new RepeatedRequests(CLIENTS, url, tenant, PATIENCE);
        loads.add(load);
        return load;
    }

    @AfterEach
    void stop() throws IOException {
        loads.forEach(RepeatedRequests::end);
        toRedis.close();
        redis.close();
        assertThat(work.highest()).as("the most at once").isEqualTo(PERMITS);
    }

    private static void awaitServed(RepeatedRequests load) {
        int before = load.served();
        eventually(() -> assertThat(load.served()).as("%s", load.outcomes()).isGreaterThan(before + 50));
    }

    /** Until one gateway has nearly all permits: more than the half that it has beside the other one. */
    private void awaitMoreThanHalf(Started gateway) {
        eventually(() -> assertThat(MetricsPage.parse(
                                Answer.to("http://127.0.0.1:%d/actuator/prometheus".formatted(gateway.managementPort()))
                                        .body())
                        .value("fairgate_slice_permits", "pool", "pool"))
                .isEqualTo(PERMITS));
    }

    @Test
    void a_gateway_is_killed() throws Exception {
        two.signal("KILL").awaitExit();
        awaitMoreThanHalf(one);
        awaitServed(atOne);
        assertThat(atOne.count("503")).isZero();
    }

    @Test
    void a_gateway_ends() throws Exception {
        assertThat(two.terminate().awaitExit()).isZero();
        awaitMoreThanHalf(one);
        awaitServed(atOne);
        assertThat(atOne.count("503")).isZero();
    }

    @Test
    void a_gateway_stands_still_for_longer_than_its_term() throws Exception {
        two.signal("STOP");
        awaitMoreThanHalf(one);
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
        toRedis.silence();
        eventually(() -> assertThat(atTwo.count("503")).isPositive());
        awaitServed(atTwo);
        awaitServed(atOne);
    }
}
