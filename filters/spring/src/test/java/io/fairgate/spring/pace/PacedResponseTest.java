package io.fairgate.spring.pace;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.DefaultChannelConfig;
import io.netty.channel.embedded.EmbeddedChannel;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Responses in virtual time, a hundred bytes a second while the pool is full. {@code SlowReaderTest} tests them over HTTP/2. */
class PacedResponseTest {

    private static final Pace PACE = new Pace(0, 100);

    /** The connection of a client that reads only what the test says. */
    private static final class Client extends EmbeddedChannel {

        private int allowed;
        private long acknowledged;
        private boolean isNio;

        private final DefaultChannelConfig config = new DefaultChannelConfig(this) {
            @Override
            @SuppressWarnings("unchecked")
            public <T> T getOption(ChannelOption<T> option) {
                return option.equals(AcknowledgedBytes.INFO) && !isNio ? (T) info() : super.getOption(option);
            }
        };

        private ByteBuffer info() {
            return ByteBuffer.allocate(128).order(ByteOrder.nativeOrder()).putLong(120, acknowledged);
        }

        void read(int bytes) {
            allowed += bytes;
            flush();
        }

        @Override
        public ChannelConfig config() {
            return config == null ? super.config() : config; // The superclass asks for it before it is there.
        }

        @Override
        protected void doWrite(ChannelOutboundBuffer unsent) {
            while (allowed > 0 && unsent.current() instanceof ByteBuf part) {
                int taken = Math.min(allowed, part.readableBytes());
                allowed -= taken;
                acknowledged += taken;
                unsent.removeBytes(taken);
            }
        }
    }

    private final Client client = new Client();
    private final OnePermit permit = new OnePermit();
    private final List<String> ended = new ArrayList<>();
    private boolean isProxied;

    private PacedResponse begin(String name, Pace pace) {
        PacedResponse response = new PacedResponse(() -> client, pace, permit.pool(), new PacedResponse.Request() {
            @Override
            public boolean comesThroughProxy() {
                return isProxied;
            }

            @Override
            public void breakOff(SlowReaderException slow) {
                ended.add(name);
            }
        });
        response.begin();
        client.runPendingTasks();
        return response;
    }

    private void write(int bytes) {
        var unused = client.writeAndFlush(Unpooled.wrappedBuffer(new byte[bytes]));
    }

    private void pass(int seconds, int bytesPerSecond) {
        for (int i = 0; i < seconds; i++) {
            client.read(bytesPerSecond);
            client.advanceTimeBy(1, TimeUnit.SECONDS);
            client.runPendingTasks(); // A look asks the pool,
            client.runPendingTasks(); // and its answer is a task again.
        }
    }

    @BeforeEach
    void freeze() {
        client.freezeTime();
    }

    @AfterEach
    void close() {
        client.read(Integer.MAX_VALUE / 2);
        client.finishAndReleaseAll();
    }

    @Test
    void a_client_that_reads_nothing_is_ended_ten_seconds_after_that_was_noticed() {
        permit.use();
        begin("slow", PACE);
        write(1_000);
        pass(11, 0);
        assertThat(ended).isEmpty();
        pass(1, 0);
        assertThat(ended).containsExactly("slow");
        pass(100, 0);
        assertThat(ended).containsExactly("slow");
    }

    @Test
    void a_client_at_the_rate_goes_on_and_one_below_it_does_not_also_within_one_large_part() {
        permit.use();
        begin("slow", PACE);
        write(1_000_000);
        pass(102, 100);
        assertThat(ended).isEmpty();
        pass(20, 90);
        assertThat(ended).containsExactly("slow");
    }

    @Test
    void parts_that_are_written_later_are_no_progress() {
        permit.use();
        begin("slow", PACE);
        for (int i = 0; i < 12; i++) {
            write(1_000);
            pass(1, 0);
        }
        assertThat(ended).containsExactly("slow");
    }

    @Test
    void a_client_that_has_read_all_need_not_read() {
        permit.use();
        begin("served", PACE);
        for (int i = 0; i < 20; i++) {
            write(1);
            client.read(1);
            pass(9, 0);
        }
        assertThat(ended).isEmpty();
    }

    @Test
    void the_time_begins_again_when_the_client_has_read_all() {
        permit.use();
        begin("served", PACE);
        for (int i = 0; i < 20; i++) {
            write(10);
            pass(8, 0);
            client.read(10);
            pass(2, 0);
        }
        assertThat(ended).isEmpty();
    }

    @Test
    void while_the_pool_has_free_permits_a_client_may_read_slowly() {
        begin("slow", PACE);
        write(1_000_000);
        pass(1_000, 0);
        assertThat(ended).isEmpty();
        permit.use();
        pass(2, 0);
        assertThat(ended).containsExactly("slow");
    }

    @Test
    void a_response_that_has_ended_is_not_ended_once_more_and_later_ones_are_looked_at() {
        permit.use();
        PacedResponse first = begin("first", PACE);
        write(1_000);
        pass(3, 0);
        first.end();
        pass(20, 0);
        assertThat(ended).isEmpty();
        begin("second", PACE);
        begin("third", PACE);
        pass(12, 0);
        assertThat(ended).containsExactly("second", "third");
    }

    @Test
    void what_was_read_at_once_pays_for_a_pause() {
        permit.use();
        begin("slow", PACE);
        write(1_000_000);
        pass(4, 1_000);
        pass(16, 0);
        assertThat(ended).isEmpty();
        pass(8, 0);
        assertThat(ended).containsExactly("slow");
    }

    @Test
    void a_client_behind_a_proxy_has_a_minute() {
        isProxied = true;
        permit.use();
        begin("slow", PACE);
        write(1_000);
        pass(61, 0);
        assertThat(ended).isEmpty();
        pass(1, 0);
        assertThat(ended).containsExactly("slow");
    }

    @Test
    void clients_of_one_connection_share_what_it_reads() {
        permit.use();
        begin("first", PACE);
        begin("second", PACE);
        write(1_000_000);
        pass(20, 190);
        assertThat(ended).containsExactly("first", "second");
    }

    @Test
    void a_transport_that_does_not_know_what_was_read_ends_no_response() {
        client.isNio = true;
        permit.use();
        begin("slow", PACE);
        write(1_000);
        pass(1_000, 0);
        assertThat(ended).isEmpty();
    }

    @Test
    void without_a_rate_nothing_is_looked_at() {
        permit.use();
        begin("slow", new Pace(1, 0));
        write(1_000);
        pass(1_000, 0);
        assertThat(ended).isEmpty();
        assertThat(client.runScheduledPendingTasks()).isNegative();
    }

    @Test
    void a_connection_without_responses_has_no_timer() {
        begin("first", PACE).end();
        begin("second", PACE).end();
        pass(3, 0);
        assertThat(client.runScheduledPendingTasks()).isNegative();
    }
}
