package io.fairgate.benchmarks.load;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.LastHttpContent;
import java.io.IOException;
import java.util.concurrent.TimeUnit;

/** One connection of a load, with one request at a time. */
final class LoadConnection extends SimpleChannelInboundHandler<HttpObject> {

    private final LoadRun run;
    private long sentAt;
    private int status;
    private boolean hasEnded;

    LoadConnection(LoadRun run) {
        this.run = run;
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        send(context);
    }

    private void send(ChannelHandlerContext context) {
        if (run.goesOn()) {
            sentAt = System.nanoTime();
            var unused = context.writeAndFlush(run.nextRequest(), context.voidPromise());
        } else {
            hasEnded = true;
            var unused = context.close();
            run.connectionEnded();
        }
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, HttpObject part) {
        if (part instanceof HttpResponse response) {
            status = response.status().code();
        }
        if (part instanceof LastHttpContent) {
            boolean isRefused = run.answered(status, sentAt);
            if (isRefused && !run.pause().isZero()) {
                var unused = context.executor()
                        .schedule(() -> send(context), run.pause().toNanos(), TimeUnit.NANOSECONDS);
            } else {
                send(context);
            }
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        if (!hasEnded) {
            run.failed(new IOException("the gateway has closed a connection"));
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        run.failed(cause);
        var unused = context.close();
    }
}
