package io.fairgate.gateway;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.reactivestreams.Publisher;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.netty.http.HttpProtocol;
import reactor.netty.http.client.HttpClient;

/** The ways in which a client can leave before its answer. */
enum LeaveBy {
    FIN,
    RST,
    RST_STREAM;

    /** A client that has sent a request. */
    interface Client {

        /** Returns when it has an answer. */
        void read() throws IOException;

        void leave() throws IOException;
    }

    Client get(RunningGateway gateway, String path, String tenant) throws IOException {
        return this == RST_STREAM
                ? new Http2(gateway, path, tenant, "GET", Flux.empty())
                : new Http1(new RawClient(gateway.port()).get(path, tenant), this);
    }

    /** A body of four bytes is sent whole, right after the headers. */
    Client post(RunningGateway gateway, String path, String tenant) throws IOException {
        return this == RST_STREAM
                ? new Http2(gateway, path, tenant, "POST", Flux.just(Unpooled.wrappedBuffer(new byte[4])))
                : new Http1(new RawClient(gateway.port()).post(path, tenant, 4), this);
    }

    /** Over HTTP/2: the body has its full declared length, but its end never arrives. */
    static Client endlessPost(RunningGateway gateway, String path, String tenant, String body) {
        ByteBuf bytes = Unpooled.wrappedBuffer(body.getBytes(StandardCharsets.US_ASCII));
        return new Http2(gateway, path, tenant, "POST", Flux.just(bytes).concatWith(Mono.never()));
    }

    private record Http1(RawClient connection, LeaveBy way) implements Client {

        @Override
        public void read() throws IOException {
            connection.readUntil("\r\n\r\n");
            connection.close();
        }

        @Override
        public void leave() throws IOException {
            if (way == FIN) {
                connection.close();
            } else {
                connection.reset();
            }
        }
    }

    /** Only the stream ends; the connection, which others use too, stays open. */
    private static final class Http2 implements Client {

        private final Sinks.Empty<Void> answered = Sinks.empty();
        private final Disposable stream;

        Http2(RunningGateway gateway, String path, String tenant, String method, Publisher<ByteBuf> body) {
            stream = HttpClient.create()
                    .protocol(HttpProtocol.H2C)
                    .headers(headers -> {
                        headers.set("X-Tenant-Id", tenant);
                        if (method.equals("POST")) {
                            headers.set("Content-Length", 4);
                        }
                    })
                    .request(io.netty.handler.codec.http.HttpMethod.valueOf(method))
                    .uri(gateway.url(path))
                    .send(body)
                    .responseContent()
                    .then()
                    .subscribe(nothing -> {}, answered::tryEmitError, answered::tryEmitEmpty);
        }

        @Override
        public void read() {
            answered.asMono().block(Duration.ofSeconds(30));
        }

        @Override
        public void leave() {
            stream.dispose();
        }
    }
}
