package io.fairgate.spring.forward;

import io.fairgate.spring.exchange.MovingDeadline;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.util.AttributeKey;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import org.jspecify.annotations.Nullable;

/**
 * The deadline for the headers of the response that a client's connection, or its HTTP/2 stream, waits for. It is there
 * and not at the upstream's connection, because it includes the time until there is one, and because it can be moved from
 * one request to the next without a timer: a client's connection has one request at a time.
 */
final class ResponseDeadline {

    private static final AttributeKey<ResponseDeadline> OF_CHANNEL =
            AttributeKey.valueOf(ResponseDeadline.class.getName());

    private static final AtomicReferenceFieldUpdater<ResponseDeadline, @Nullable UpstreamAnswer> AWAITED =
            AtomicReferenceFieldUpdater.newUpdater(ResponseDeadline.class, UpstreamAnswer.class, "awaited");

    private final MovingDeadline deadline;
    /** Set on the event loop; removed by any thread. */
    private volatile @Nullable UpstreamAnswer awaited;

    private ResponseDeadline(Channel client) {
        deadline = new MovingDeadline(client.eventLoop(), this::reached);
        client.closeFuture().addListener(closed -> deadline.stop());
    }

    /** Times an answer out if it has not come by then. */
    static void set(Channel client, UpstreamAnswer answer, long nanos) {
        EventLoop loop = client.eventLoop();
        if (loop.inEventLoop()) {
            setOnLoop(client, answer, nanos);
            return;
        }
        try {
            loop.execute(() -> setOnLoop(client, answer, nanos));
        } catch (RejectedExecutionException shutDown) {
            // Its connections are closed then.
        }
    }

    private static void setOnLoop(Channel client, UpstreamAnswer answer, long nanos) {
        if (answer.isOver()) {
            return;
        }
        ResponseDeadline own = client.attr(OF_CHANNEL).get();
        if (own == null) {
            own = new ResponseDeadline(client);
            client.attr(OF_CHANNEL).set(own);
        }
        own.awaited = answer;
        answer.awaitedBy(own); // If it is over by now, the deadline keeps it until the next request, without effect.
        own.deadline.set(nanos);
    }

    /** The answer has come, or is no longer wanted. By then the client may have sent the next request. */
    void forget(UpstreamAnswer answer) {
        AWAITED.compareAndSet(this, answer, null);
    }

    private void reached() {
        UpstreamAnswer late = awaited;
        if (late != null) {
            late.timeOut();
        }
    }
}
