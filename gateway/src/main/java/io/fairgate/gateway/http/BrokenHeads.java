package io.fairgate.gateway.http;

import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http2.DefaultHttp2ResetFrame;
import io.netty.handler.codec.http2.Http2DataFrame;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2FrameStreamEvent;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2HeadersFrame;
import io.netty.handler.codec.http2.Http2Stream;
import io.netty.handler.codec.http2.Http2StreamFrame;
import io.netty.util.collection.IntObjectHashMap;
import io.netty.util.collection.IntObjectMap;
import org.jspecify.annotations.Nullable;

/**
 * Resets a stream of HTTP/2 of which the method or the target is missing or cannot be written in HTTP/1.1 (RFC 9113, 8.3.1). Netty
 * (4.2.18) takes headers without a method for trailers, and the stream would stay open without an answer; in the other cases it
 * throws an error and does not release a buffer.
 *
 * <p>It is placed between the codec and the handler that makes a channel of each stream. It runs on the event loop only.
 */
final class BrokenHeads extends ChannelDuplexHandler {

    private static final String IN_TOKENS = "!#$%&'*+-.^_`|~";

    /** Streams whose request has begun and not ended. */
    private final IntObjectMap<Boolean> begun = new IntObjectHashMap<>();

    @Override
    public void channelRead(ChannelHandlerContext context, Object part) {
        if (part instanceof HttpRequest) {
            context.pipeline().remove(this); // This is HTTP/1.1.
        } else if (part instanceof Http2HeadersFrame headers) {
            if (isBroken(headers.headers(), begun.containsKey(headers.stream().id()))) {
                var unused = context.writeAndFlush(
                        new DefaultHttp2ResetFrame(Http2Error.PROTOCOL_ERROR).stream(headers.stream()));
                return;
            }
            note(headers, headers.isEndStream());
        } else if (part instanceof Http2DataFrame data) {
            note(data, data.isEndStream());
        }
        context.fireChannelRead(part);
    }

    private static boolean isBroken(Http2Headers headers, boolean areTrailers) {
        CharSequence method = headers.method();
        if (method == null) {
            return !areTrailers;
        }
        return !isToken(method)
                || !isTarget(
                        HttpMethod.CONNECT.asciiName().contentEquals(method) ? headers.authority() : headers.path());
    }

    private static boolean isToken(CharSequence text) {
        return !text.isEmpty() && text.chars().allMatch(BrokenHeads::isOfToken);
    }

    private static boolean isOfToken(int c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || IN_TOKENS.indexOf(c) >= 0;
    }

    private static boolean isTarget(@Nullable CharSequence text) {
        return text != null && !text.isEmpty() && text.chars().allMatch(c -> c > ' ' && c != 0x7f);
    }

    private void note(Http2StreamFrame frame, boolean isEnd) {
        int stream = frame.stream().id();
        if (isEnd) {
            begun.remove(stream);
        } else {
            begun.put(stream, Boolean.TRUE);
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event instanceof Http2FrameStreamEvent change && change.stream().state() == Http2Stream.State.CLOSED) {
            begun.remove(change.stream().id());
        }
        context.fireUserEventTriggered(event);
    }
}
