package io.fairgate.benchmarks.peer;

import io.fairgate.benchmarks.process.ParentProcess;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import reactor.netty.resources.LoopResources;

/**
 * Refuses every request with Netty's codec alone. It has the event loops and the transport of Reactor Netty, and nothing
 * else of it: the least that a refusal by a program in Java can cost.
 */
public final class NettyRefusal extends SimpleChannelInboundHandler<HttpObject> {

    private NettyRefusal() {}

    /** Runs until it is killed, or its parent process has ended. */
    public static void main(String[] args) throws InterruptedException {
        ParentProcess.endWithIt();
        LoopResources loops = LoopResources.create("netty");
        EventLoopGroup group = loops.onServer(true);
        Channel server = new ServerBootstrap()
                .group(group)
                .channelFactory(() -> loops.onChannel(ServerSocketChannel.class, group))
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel connection) {
                        connection.pipeline().addLast(new HttpServerCodec(), new NettyRefusal());
                    }
                })
                .bind(InetAddress.getLoopbackAddress(), 0)
                .sync()
                .channel();
        System.out.println("port " + ((InetSocketAddress) server.localAddress()).getPort());
        server.closeFuture().sync();
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, HttpObject part) {
        if (part instanceof LastHttpContent) {
            FullHttpResponse answer = new DefaultFullHttpResponse(
                    HttpVersion.HTTP_1_1, HttpResponseStatus.SERVICE_UNAVAILABLE, ConstantAnswer.body());
            ConstantAnswer.addHeaders(answer.headers());
            var unused = context.writeAndFlush(answer, context.voidPromise());
        }
    }
}
