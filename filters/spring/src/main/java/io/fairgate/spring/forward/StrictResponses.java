package io.fairgate.spring.forward;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.DecoderResult;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.LastHttpContent;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.springframework.cloud.gateway.config.HttpClientCustomizer;
import reactor.netty.Connection;
import reactor.netty.NettyPipeline;
import reactor.netty.channel.ChannelOperations;

/**
 * Closes a connection to an upstream that sends more than one response to a request, or a malformed one.
 *
 * <p>Bytes behind a response stay in Netty's decoder, and so begin the response to the next request on the connection, which may be
 * another tenant's. So a connection with such bytes is not reused, and bytes that come when no response is expected close it.
 *
 * <p>A malformed response is an {@link IOException}, like every failure of the upstream.
 *
 * <p>This handler is before the decoder, and {@link Responses} behind it. Both are used on the channel's event loop.
 */
final class StrictResponses extends ChannelInboundHandlerAdapter {

    static final HttpClientCustomizer REQUIRED =
            client -> client.doOnRequest((request, connection) -> expectOn(connection.channel()));

    private static final String BYTES = "fairgate.strictResponses";
    private static final String RESPONSES = "fairgate.strictResponses.decoded";

    /** Whether the final response to a request has not come to its end. */
    private boolean isExpected;

    /** What the decoder reads at this moment. */
    private @Nullable ByteBuf reading;

    /** Whether the decoder may have older bytes. Then it copies the next ones behind them, and how many it reads of these is not known. */
    private boolean mayHaveOlder;

    private StrictResponses() {}

    private static void expectOn(Channel channel) {
        ChannelPipeline pipeline = channel.pipeline();
        StrictResponses bytes = (StrictResponses) pipeline.get(BYTES);
        if (bytes == null) {
            if (pipeline.get(NettyPipeline.HttpCodec) == null) {
                return; // A stream of HTTP/2, which has one response and ends with it.
            }
            bytes = new StrictResponses();
            pipeline.addBefore(NettyPipeline.HttpCodec, BYTES, bytes);
            pipeline.addBefore(NettyPipeline.ReactiveBridge, RESPONSES, bytes.new Responses());
        }
        bytes.isExpected = true;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (!(message instanceof ByteBuf bytes)) {
            context.fireChannelRead(message);
        } else if (!isExpected) {
            bytes.release();
            var unused = context.close();
        } else {
            decode(context, bytes);
        }
    }

    /** Retained, so that it can be told which part the decoder has read. */
    private void decode(ChannelHandlerContext context, ByteBuf bytes) {
        reading = bytes.retain();
        mayHaveOlder |= !bytes.isContiguous();
        try {
            context.fireChannelRead(bytes);
        } finally {
            reading = null;
            mayHaveOlder |= bytes.isReadable();
            bytes.release();
        }
    }

    private void decoded() {
        if (reading != null
                && reading.refCnt() > 1) { // The decoder, or what it has decoded, uses the buffer itself and no copy.
            mayHaveOlder = false;
        }
    }

    /** Whether the decoder may have bytes that it has not read. */
    private boolean mayHaveMore() {
        return mayHaveOlder || (reading != null && reading.isReadable());
    }

    /** Behind the decoder. */
    private final class Responses extends ChannelInboundHandlerAdapter {

        private boolean isInterim;

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            decoded();
            if (!(message instanceof HttpObject part)) {
                context.fireChannelRead(message);
            } else if (part.decoderResult().isFailure()) {
                refuse(context, part, part.decoderResult().cause());
            } else if (part instanceof HttpResponse response && !(isHttp1(response) && hasKnownFraming(response))) {
                refuse(context, part, null);
            } else {
                read(context, part);
            }
        }

        /** Reactor Netty fails the exchange with this, and closes the connection. */
        private void refuse(ChannelHandlerContext context, HttpObject part, @Nullable Throwable cause) {
            part.setDecoderResult(DecoderResult.failure(new MalformedResponseException(cause)));
            context.fireChannelRead(part);
        }

        private void read(ChannelHandlerContext context, HttpObject part) {
            if (part instanceof HttpResponse response) {
                if (response.status().equals(HttpResponseStatus.SWITCHING_PROTOCOLS)) {
                    leave(context, response);
                    return;
                }
                isInterim = response.status().codeClass() == HttpStatusClass.INFORMATIONAL;
            }
            if (part instanceof LastHttpContent && !isInterim) {
                isExpected = false;
                if (mayHaveMore()) {
                    doNotReuse(context.channel());
                }
            }
            context.fireChannelRead(part);
        }

        /** What follows is another protocol. */
        private void leave(ChannelHandlerContext context, HttpResponse response) {
            context.fireChannelRead(response);
            context.pipeline().remove(StrictResponses.this);
            context.pipeline().remove(this);
        }
    }

    /** Netty takes any number for a status, and any version. */
    private static boolean isHttp1(HttpResponse response) {
        int status = response.status().code();
        return response.protocolVersion().majorVersion() == 1 && status >= 100 && status <= 999;
    }

    /** Netty ignores all transfer codings but the last one. Where such a body ends, or what it is, would be a guess (RFC 9112, 6.1). */
    private static boolean hasKnownFraming(HttpResponse response) {
        String coding = response.headers().get(HttpHeaderNames.TRANSFER_ENCODING);
        return coding == null || HttpHeaderValues.CHUNKED.contentEqualsIgnoreCase(coding);
    }

    private static void doNotReuse(Channel channel) {
        Connection exchange = ChannelOperations.get(channel);
        if (exchange == null) {
            var unused = channel.close();
        } else {
            exchange.markPersistent(false);
        }
    }

    private static final class MalformedResponseException extends IOException {

        private static final long serialVersionUID = 1L;

        MalformedResponseException(@Nullable Throwable cause) {
            super("the upstream's response is not valid HTTP", cause);
        }
    }
}
