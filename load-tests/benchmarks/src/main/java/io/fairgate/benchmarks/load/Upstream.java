package io.fairgate.benchmarks.load;

import io.fairgate.benchmarks.process.ParentProcess;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;

/**
 * An upstream on a free loopback port, which it prints. It answers at once, or, for paths that begin with {@value
 * #SLOW}, when a {@link Station} has served the request. It does not notice when a client leaves, like most servers.
 */
public final class Upstream {

    static final String SLOW = "/slow";
    static final String STATISTICS = "/statistics";

    private Upstream() {}

    /**
     * Runs until it is killed, or its parent process has ended.
     *
     * @param args the milliseconds for which the station works on a request, and the number of its servers
     */
    public static void main(String[] args) throws InterruptedException {
        ParentProcess.endWithIt();
        EventLoopGroup loop = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        Station station =
                new Station(loop.next(), Duration.ofMillis(Long.parseLong(args[0])), Integer.parseInt(args[1]));
        Channel server = new ServerBootstrap()
                .group(loop)
                .channel(NioServerSocketChannel.class)
                .option(ChannelOption.SO_BACKLOG, 4096)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel connection) {
                        connection.pipeline().addLast(new UpstreamConnection(station));
                    }
                })
                .bind(InetAddress.getLoopbackAddress(), 0)
                .sync()
                .channel();
        System.out.println("port " + ((InetSocketAddress) server.localAddress()).getPort());
    }
}
