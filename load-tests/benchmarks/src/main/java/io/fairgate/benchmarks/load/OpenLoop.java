package io.fairgate.benchmarks.load;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Sends the requests of one tenant as they arrive. All of it runs on one event loop. */
final class OpenLoop {

    private static final Duration STEP = Duration.ofMillis(1);
    private static final int OK = 200;

    /** A request that was sent. Its connection may have another one by now. */
    private record Sent(OpenConnection connection, long at) {}

    final CompletableFuture<ArrivalsResult> result = new CompletableFuture<>();

    private final Arrivals arrivals;
    private final EventLoop loop;
    private final Bootstrap bootstrap;
    private final ByteBuf request;
    private final Queue<OpenConnection> idle = new ArrayDeque<>();
    private final Queue<Sent> sent = new ArrayDeque<>();
    private final Latencies latencies = new Latencies();
    private final long begin;
    private final long countedFrom;
    private final long end;
    private long arrivedBefore;
    private long connectedBefore;
    private int open;
    private long arrived;
    private long unsent;
    private long refused;
    private long timedOut;
    private long broken;

    OpenLoop(Arrivals arrivals, EventLoop loop) {
        this.arrivals = arrivals;
        this.loop = loop;
        request = PreparedBytes.of(
                "GET /x HTTP/1.1\r\nHost: localhost\r\nX-Tenant-Id: %s\r\n\r\n".formatted(arrivals.tenant()));
        bootstrap = new Bootstrap()
                .group(loop)
                .channel(NioSocketChannel.class)
                .option(ChannelOption.TCP_NODELAY, true)
                .handler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(new OpenConnection(OpenLoop.this));
                    }
                });
        begin = System.nanoTime();
        countedFrom = begin + arrivals.leadIn().toNanos();
        end = countedFrom + arrivals.time().toNanos();
    }

    void start() {
        loop.execute(this::step);
    }

    private void step() {
        long now = System.nanoTime();
        giveUp(now);
        if (now - end < 0) {
            arrive(now);
            var unused = loop.schedule(this::step, STEP.toNanos(), TimeUnit.NANOSECONDS);
        } else if (sent.isEmpty()) {
            finish();
        } else {
            var unused = loop.schedule(this::step, STEP.toNanos(), TimeUnit.NANOSECONDS);
        }
    }

    private void giveUp(long now) {
        for (Sent oldest = sent.peek(); oldest != null; oldest = sent.peek()) {
            boolean isAnswered = !oldest.connection().waitsSince(oldest.at());
            if (!isAnswered && now - oldest.at() < arrivals.patience().toNanos()) {
                return;
            }
            sent.remove();
            if (!isAnswered) {
                timedOut += isCounted(now) ? 1 : 0;
                oldest.connection().giveUp();
            }
        }
    }

    private void arrive(long now) {
        double seconds = (now - begin) / 1e9;
        long due = (long) (seconds * arrivals.perSecond()) - arrivedBefore;
        arrivedBefore += due;
        arrived += isCounted(now) ? due : 0;
        for (long left = due; left > 0; left--) {
            OpenConnection connection = nextIdle();
            if (connection != null) {
                send(connection);
            } else if (open < arrivals.connections() && connectedBefore < 1 + seconds * arrivals.newPerSecond()) {
                connect();
            } else {
                unsent += isCounted(now) ? left : 0;
                return;
            }
        }
    }

    private @Nullable OpenConnection nextIdle() {
        OpenConnection next = idle.poll();
        while (next != null && !next.isOpen()) {
            next = idle.poll();
        }
        return next;
    }

    private void connect() {
        open++;
        connectedBefore++;
        bootstrap.connect(InetAddress.getLoopbackAddress(), arrivals.port()).addListener((ChannelFuture connected) -> {
            if (!connected.isSuccess()) {
                closed(true);
            }
        });
    }

    /** A connection is open, with the request for which it was opened. */
    void connected(OpenConnection connection) {
        send(connection);
    }

    private void send(OpenConnection connection) {
        long now = System.nanoTime();
        sent.add(new Sent(connection, now));
        connection.send(request.duplicate(), now);
    }

    void answered(OpenConnection connection, int status, long sentAt) {
        long now = System.nanoTime();
        if (isCounted(now)) {
            if (status == OK) {
                latencies.add(now - sentAt);
            } else {
                refused++;
            }
        }
        idle.add(connection);
    }

    /** @param withRequest whether a request was lost with the connection */
    void closed(boolean withRequest) {
        open--;
        broken += withRequest && isCounted(System.nanoTime()) ? 1 : 0;
    }

    private boolean isCounted(long now) {
        return now - countedFrom >= 0 && now - end < 0;
    }

    private void finish() {
        result.complete(new ArrivalsResult(arrivals.time(), arrived, unsent, latencies, refused, timedOut, broken));
        idle.forEach(OpenConnection::giveUp);
    }
}
