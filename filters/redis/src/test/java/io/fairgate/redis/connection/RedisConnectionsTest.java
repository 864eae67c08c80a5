package io.fairgate.redis.connection;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import java.io.IOException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.Disposable;

/** Connections to a real Redis that goes away in several ways. */
class RedisConnectionsTest {

    private static final Duration PATIENCE = Duration.ofMillis(500);
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final String WRITES = "redis.call('SET', KEYS[1], ARGV[1]) return ARGV[1]";

    private RedisProcess server;
    private CutProxy proxy;
    private RedisConnections connections;

    @BeforeEach
    void start() throws IOException {
        server = new RedisProcess();
        proxy = new CutProxy(server.port());
        connections = new RedisConnections(RedisAddress.of(RedisURI.create("127.0.0.1", proxy.port())));
    }

    @AfterEach
    void stop() throws IOException {
        connections.close();
        proxy.close();
        server.close();
    }

    private boolean isAnswered() {
        return Boolean.TRUE.equals(connections
                .call(redis -> redis.eval(WRITES, ScriptOutputType.VALUE, new String[] {"key"}, "value")
                        .next())
                .map("value"::equals)
                .timeout(PATIENCE)
                .onErrorReturn(false)
                .block(LIMIT));
    }

    private void awaitAnswer(String when) throws InterruptedException {
        long end = System.nanoTime() + LIMIT.toNanos();
        while (!isAnswered()) {
            assertThat(System.nanoTime()).as("an answer %s", when).isLessThan(end);
            TimeUnit.MILLISECONDS.sleep(100);
        }
    }

    private void publish() {
        RedisClient client = RedisClient.create(RedisURI.create("127.0.0.1", server.port()));
        client.connect().sync().publish("channel", "now");
        client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
    }

    @Test
    void commands_error_while_redis_is_gone_and_are_answered_when_it_is_there_again() throws Exception {
        server.close();
        assertThat(isAnswered()).isFalse();
        server = new RedisProcess(server.port());
        awaitAnswer("after the first start");
        server.close();
        assertThat(isAnswered()).isFalse();
        server = new RedisProcess(server.port());
        awaitAnswer("after the second start");
    }

    @Test
    void connections_that_are_silent_are_replaced() throws Exception {
        awaitAnswer("at first");
        int before = proxy.accepted();
        proxy.silence();
        awaitAnswer("on other connections");
        assertThat(proxy.accepted()).isGreaterThan(before);
    }

    @Test
    void callers_that_no_longer_wait_do_not_end_the_making_of_connections() throws Exception {
        Disposable impatient = connections
                .call(redis -> redis.eval(WRITES, ScriptOutputType.VALUE, new String[] {"key"}, "value")
                        .next())
                .subscribe();
        impatient.dispose();
        awaitAnswer("all the same");
    }

    @ParameterizedTest
    @CsvSource({
        "REPLICAOF 127.0.0.1 1, REPLICAOF NO ONE",
        "CONFIG SET min-replicas-to-write 1, CONFIG SET min-replicas-to-write 0"
    })
    void connections_to_a_server_that_takes_no_writes_are_replaced(String command, String end) throws Exception {
        awaitAnswer("at first");
        int before = proxy.accepted();
        assertThat(server.answer(command)).startsWith("+OK");
        assertThat(isAnswered()).isFalse();
        assertThat(isAnswered()).isFalse();
        assertThat(server.answer(end)).startsWith("+OK");
        awaitAnswer("when it takes writes");
        assertThat(proxy.accepted()).isGreaterThan(before);
    }

    @Test
    void messages_come_before_and_after_connections_were_replaced() throws Exception {
        AtomicInteger told = new AtomicInteger();
        Disposable listening = connections.listen("channel", told::incrementAndGet);
        awaitAnswer("at first");
        awaitMessage(told, "at first");
        proxy.silence();
        awaitAnswer("on other connections");
        awaitMessage(told, "on other connections");
        listening.dispose();
        awaitNoSubscriber();
    }

    private void awaitMessage(AtomicInteger told, String when) throws InterruptedException {
        int before = told.get();
        long end = System.nanoTime() + LIMIT.toNanos();
        while (told.get() == before) {
            assertThat(System.nanoTime()).as("a message %s", when).isLessThan(end);
            publish();
            TimeUnit.MILLISECONDS.sleep(20);
        }
    }

    private void awaitNoSubscriber() throws InterruptedException {
        RedisClient client = RedisClient.create(RedisURI.create("127.0.0.1", server.port()));
        var redis = client.connect().sync();
        long end = System.nanoTime() + LIMIT.toNanos();
        while (Objects.requireNonNull(redis.pubsubNumsub("channel").get("channel")) > 0) {
            assertThat(System.nanoTime()).as("no subscriber").isLessThan(end);
            TimeUnit.MILLISECONDS.sleep(20);
        }
        client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
    }

    @Test
    void closed_connections_answer_nothing_and_leave_none_open() throws Exception {
        awaitAnswer("at first");
        awaitOpen(2);
        int before = proxy.accepted();
        connections.close();
        assertThat(isAnswered()).isFalse();
        awaitOpen(0);
        assertThat(proxy.accepted()).isEqualTo(before);
    }

    @Test
    void connections_that_were_given_up_are_closed() throws Exception {
        awaitAnswer("at first");
        proxy.silence();
        awaitAnswer("on other connections");
        awaitOpen(2);
    }

    private void awaitOpen(int count) throws InterruptedException {
        long end = System.nanoTime() + LIMIT.toNanos();
        while (proxy.open() != count) {
            assertThat(System.nanoTime()).as("open connections").isLessThan(end);
            TimeUnit.MILLISECONDS.sleep(20);
        }
    }

    @Test
    void a_server_that_accepts_and_says_nothing_is_given_up() throws Exception {
        proxy.silenceNew(true);
        assertThat(isAnswered()).isFalse();
        proxy.silenceNew(false);
        awaitAnswer("on other connections");
    }

    @Test
    void attempts_have_pauses() throws Exception {
        server.close();
        long begin = System.nanoTime();
        for (int i = 0; i < 200; i++) {
            assertThat(isAnswered()).isFalse();
            TimeUnit.MILLISECONDS.sleep(5);
        }
        long seconds = Duration.ofNanos(System.nanoTime() - begin).toSeconds();
        assertThat((long) proxy.accepted()).as("in %d s", seconds).isBetween(1L, 6 + seconds);
    }
}
