package io.fairgate.benchmarks.load;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http.HttpResponseDecoder;
import java.net.InetAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A thread that sends loads. */
public final class LoadClient implements AutoCloseable {

    /** Longer than any gateway lets a request wait. */
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final EventLoopGroup loop = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());

    /** Sends a load, and waits until the last request is answered. */
    public LoadResult run(Load load) {
        return await(load, start(load));
    }

    /** Begins to send a load. */
    public CompletableFuture<LoadResult> start(Load load) {
        LoadRun run = new LoadRun(load);
        Bootstrap bootstrap = new Bootstrap()
                .group(loop)
                .channel(NioSocketChannel.class)
                .option(ChannelOption.TCP_NODELAY, true)
                .handler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel connection) {
                        connection.pipeline().addLast(new HttpResponseDecoder(), new LoadConnection(run));
                    }
                });
        for (int i = 0; i < load.connections(); i++) {
            bootstrap.connect(InetAddress.getLoopbackAddress(), load.port()).addListener((ChannelFuture connected) -> {
                if (!connected.isSuccess()) {
                    run.failed(connected.cause());
                }
            });
        }
        return run.result;
    }

    /** Begins to send requests as they arrive. */
    public CompletableFuture<ArrivalsResult> start(Arrivals arrivals) {
        OpenLoop load = new OpenLoop(arrivals, loop.next());
        load.start();
        return load.result;
    }

    /** Waits until the last request of a load is answered. */
    public static LoadResult await(Load load, CompletableFuture<LoadResult> result) {
        Duration atMost = load.leadIn().plus(load.time()).plus(PATIENCE);
        try {
            return result.get(atMost.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        } catch (ExecutionException e) {
            throw new IllegalStateException("the load ended early", e.getCause());
        } catch (TimeoutException e) {
            throw new IllegalStateException("requests without an answer after " + atMost, e);
        }
    }

    @Override
    public void close() {
        loop.shutdownGracefully(0, 0, TimeUnit.SECONDS).syncUninterruptibly();
    }
}
