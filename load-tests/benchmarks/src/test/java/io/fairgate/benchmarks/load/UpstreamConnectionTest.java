package io.fairgate.benchmarks.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** An upstream whose station has two servers and takes 50 ms, in virtual time. */
class UpstreamConnectionTest {

    private final EmbeddedChannel channel = new EmbeddedChannel();

    @BeforeEach
    void open() {
        channel.freezeTime();
        Station station = new Station(channel.eventLoop(), Duration.ofMillis(50), 2);
        channel.pipeline().addLast(new UpstreamConnection(station));
    }

    @AfterEach
    void close() {
        channel.finishAndReleaseAll();
    }

    private void send(String bytes) {
        channel.writeInbound(Unpooled.copiedBuffer(bytes, StandardCharsets.US_ASCII));
    }

    private void request(String path) {
        send("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
    }

    private int answers() {
        int answers = 0;
        while (channel.readOutbound() instanceof ByteBuf) {
            answers++;
        }
        return answers;
    }

    private int answersAfter(int millis) {
        channel.advanceTimeBy(millis, TimeUnit.MILLISECONDS);
        channel.runScheduledPendingTasks();
        return answers();
    }

    private String statistics() {
        request(Upstream.STATISTICS);
        ByteBuf answer = channel.readOutbound();
        String text = answer.toString(StandardCharsets.US_ASCII);
        return text.substring(text.indexOf("\r\n\r\n") + 4);
    }

    @Test
    void a_request_is_answered_at_once_with_64_bytes() {
        request("/x");

        String answer = ((ByteBuf) channel.readOutbound()).toString(StandardCharsets.US_ASCII);
        assertThat(answer).startsWith("HTTP/1.1 200 OK\r\n").contains("\r\nContent-Length: 64\r\n");
        assertThat(answer.substring(answer.indexOf("\r\n\r\n") + 4)).hasSize(64);
    }

    @Test
    void a_request_that_comes_in_pieces_is_answered_when_it_is_complete() {
        send("GET /x HTTP/1.1\r\nHost: local");
        send("host\r\n\r");
        assertThat(answers()).isZero();

        send("\n");

        assertThat(answers()).isEqualTo(1);
    }

    @Test
    void the_slow_service_works_on_so_many_requests_at_a_time_and_others_wait() {
        request(Upstream.SLOW);
        request(Upstream.SLOW);
        request(Upstream.SLOW);

        assertThat(answersAfter(49)).isZero();
        assertThat(answersAfter(1)).isEqualTo(2);
        assertThat(answersAfter(49)).isZero();
        assertThat(answersAfter(1)).isEqualTo(1);
    }

    @Test
    void the_statistics_have_the_time_of_all_servers_and_the_most_requests_at_once() {
        request(Upstream.SLOW);
        request(Upstream.SLOW);
        request(Upstream.SLOW);
        answersAfter(50);
        answersAfter(50);
        answersAfter(30);

        assertThat(statistics()).isEqualTo("busy 150000000 most 3");
        assertThat(statistics()).isEqualTo("busy 150000000 most 0");
    }

    @Test
    void requests_under_way_count_as_far_as_they_are() {
        request(Upstream.SLOW);
        answersAfter(20);

        assertThat(statistics()).isEqualTo("busy 20000000 most 1");
    }
}
