package io.fairgate.spring.websocket;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http2.Http2StreamChannel;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import org.jspecify.annotations.Nullable;
import reactor.netty.Connection;
import reactor.netty.http.server.HttpServerRequest;

/** The opening handshake of a WebSocket: one request and its response over HTTP/1.1 (RFC 6455, section 4). */
public final class Handshake {

    /** RFC 6455, section 1.3. */
    private static final String GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

    private Handshake() {}

    /**
     * Whether a request asks for a WebSocket. Every other request is served as if it had no {@code Upgrade} field (RFC 9110, 7.8);
     * so is one with a body, because it would not be clear where the tunnel begins.
     */
    public static boolean isRequested(HttpServerRequest request) {
        HttpHeaders headers = request.requestHeaders();
        return headers.contains(HttpHeaderNames.UPGRADE)
                && headers.containsValue(HttpHeaderNames.UPGRADE, HttpHeaderValues.WEBSOCKET, true)
                && headers.containsValue(HttpHeaderNames.CONNECTION, HttpHeaderValues.UPGRADE, true)
                && request.method().equals(HttpMethod.GET)
                && request.version().equals(HttpVersion.HTTP_1_1)
                && request instanceof Connection connection
                && !(connection.channel() instanceof Http2StreamChannel)
                && hasNoBody(headers);
    }

    private static boolean hasNoBody(HttpHeaders headers) {
        return !headers.contains(HttpHeaderNames.TRANSFER_ENCODING)
                && (!headers.contains(HttpHeaderNames.CONTENT_LENGTH)
                        || headers.containsValue(HttpHeaderNames.CONTENT_LENGTH, "0", false));
    }

    /**
     * Whether a response with status 101 accepts the handshake. An upstream that only repeats a status it got elsewhere does not
     * know the right {@code Sec-WebSocket-Accept}; it would read the bytes of the tunnel as requests.
     */
    static boolean isAccepted(HttpHeaders request, HttpHeaders response) {
        String key = request.get(HttpHeaderNames.SEC_WEBSOCKET_KEY);
        return response.containsValue(HttpHeaderNames.UPGRADE, HttpHeaderValues.WEBSOCKET, true)
                && response.containsValue(HttpHeaderNames.CONNECTION, HttpHeaderValues.UPGRADE, true)
                && key != null
                && accept(key).equals(accepted(response));
    }

    private static @Nullable String accepted(HttpHeaders response) {
        String accepted = response.get(HttpHeaderNames.SEC_WEBSOCKET_ACCEPT);
        return accepted == null ? null : accepted.strip();
    }

    private static String accept(String key) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-1")
                    .digest((key.strip() + GUID).getBytes(StandardCharsets.ISO_8859_1));
            return Base64.getEncoder().encodeToString(hash);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e); // Every Java platform has SHA-1.
        }
    }
}
