package io.fairgate.client;

import io.fairgate.client.LeaseServer.Credential;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.netty.ByteBufFlux;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.client.HttpClientResponse;
import reactor.netty.resources.ConnectionProvider;
import tools.jackson.databind.json.JsonMapper;

/** Calls over HTTP/1.1. Redirects are not followed, so that the credential is not sent to another address. */
final class HttpTransport implements Transport {

    /** A lease is some hundred bytes, a problem not many more. */
    private static final int LARGEST_ANSWER = 64 * 1024;

    /** Shorter than in common servers and load balancers, so that few calls use a connection that is being closed. */
    private static final Duration IDLE = Duration.ofSeconds(20);

    private static final JsonMapper JSON = JsonMapper.builder().build();

    private final String base;
    private final @Nullable Credential credential;
    private final ConnectionProvider forWaiting;
    private final ConnectionProvider forOthers;

    HttpTransport(LeaseServer server) {
        this.base = server.uri().toString().replaceFirst("/+$", "");
        this.credential = server.credential();
        this.forWaiting = connections("fairgate-lease-waiting", server.connections());
        this.forOthers = connections("fairgate-lease", server.connections());
    }

    /** The time of its call bounds how long a call waits for a connection, so the number of waiting calls has no bound. */
    private static ConnectionProvider connections(String name, int atMost) {
        return ConnectionProvider.builder(name)
                .maxConnections(atMost)
                .pendingAcquireMaxCount(-1)
                .maxIdleTime(IDLE)
                .build();
    }

    @Override
    public Mono<Answer> send(Call call) {
        return Mono.defer(() -> {
            String secret = credential == null ? null : credential.value().get();
            byte[] body = call.body() == null ? new byte[0] : JSON.writeValueAsBytes(call.body());
            return exchange(call, secret, body).onErrorMap(HttpTransport::noAnswer);
        });
    }

    private Mono<Answer> exchange(Call call, @Nullable String secret, byte[] body) {
        return HttpClient.create(call.waits() ? forWaiting : forOthers)
                .headers(headers -> fill(headers, call, secret, body))
                .request(HttpMethod.valueOf(call.method()))
                .uri(base + call.path())
                .send(Mono.fromSupplier(() -> Unpooled.wrappedBuffer(body)))
                .response(HttpTransport::read)
                .next();
    }

    private void fill(HttpHeaders headers, Call call, @Nullable String secret, byte[] body) {
        headers.set("Accept", "application/json, application/problem+json");
        headers.set("Content-Length", body.length);
        if (call.body() != null) {
            headers.set("Content-Type", "application/json");
        }
        if (call.key() != null) {
            headers.set("Idempotency-Key", call.key());
        }
        if (credential != null && secret != null) {
            headers.set(credential.header(), secret);
        }
    }

    private static Mono<Answer> read(HttpClientResponse response, ByteBufFlux content) {
        return content.asByteArray()
                .collect(ByteArrayOutputStream::new, HttpTransport::append)
                .map(all -> Answer.of(
                        response.status().code(), response.responseHeaders().get("Retry-After"), all.toByteArray()));
    }

    private static void append(ByteArrayOutputStream all, byte[] part) {
        if (all.size() + part.length > LARGEST_ANSWER) {
            throw new IllegalStateException("an answer of more than %d bytes".formatted(LARGEST_ANSWER));
        }
        all.writeBytes(part);
    }

    /** Some failures of a connection are no {@code IOException}. */
    private static Throwable noAnswer(Throwable failure) {
        return failure instanceof IOException ? failure : new IOException(failure.toString(), failure);
    }

    @Override
    public void close() {
        forWaiting.dispose();
        forOthers.dispose();
    }
}
