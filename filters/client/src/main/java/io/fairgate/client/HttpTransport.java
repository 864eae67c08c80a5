package io.fairgate.client;

import io.fairgate.client.LeaseClientSettings.Credential;
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

/** HTTP/1.1. Redirects are not followed, so that the credential is not sent to another address. */
final class HttpTransport implements Transport {

    /** A lease is some hundred bytes, a problem not many more. */
    private static final int LARGEST_RESPONSE = 64 * 1024;

    /** Shorter than in common servers and load balancers, so that few requests use a connection that is being closed. */
    private static final Duration IDLE = Duration.ofSeconds(20);

    private static final JsonMapper JSON = JsonMapper.builder().build();

    private final String base;
    private final @Nullable Credential credential;
    private final ConnectionProvider forWaiting;
    private final ConnectionProvider forOthers;

    HttpTransport(LeaseClientSettings settings) {
        this.base = settings.uri().toString().replaceFirst("/+$", "");
        this.credential = settings.credential();
        this.forWaiting = connections("fairgate-lease-waiting", settings.connections());
        this.forOthers = connections("fairgate-lease", settings.connections());
    }

    /** Its timeout bounds how long a request waits for a connection, so the number of waiting requests has no bound. */
    private static ConnectionProvider connections(String name, int atMost) {
        return ConnectionProvider.builder(name)
                .maxConnections(atMost)
                .pendingAcquireMaxCount(-1)
                .maxIdleTime(IDLE)
                .build();
    }

    @Override
    public Mono<ApiResponse> send(ApiRequest request) {
        return Mono.defer(() -> {
            String secret = credential == null ? null : credential.current();
            byte[] body = request.body() == null ? new byte[0] : JSON.writeValueAsBytes(request.body());
            return HttpClient.create(request.waits() ? forWaiting : forOthers)
                    .headers(headers -> fill(headers, request, secret, body))
                    .request(HttpMethod.valueOf(request.method()))
                    .uri(base + request.path())
                    .send(Mono.fromSupplier(() -> Unpooled.wrappedBuffer(body)))
                    .response(HttpTransport::read)
                    .next()
                    .onErrorMap(HttpTransport::noResponse);
        });
    }

    private void fill(HttpHeaders headers, ApiRequest request, @Nullable String secret, byte[] body) {
        headers.set("Accept", "application/json, application/problem+json");
        headers.set("Content-Length", body.length);
        if (request.body() != null) {
            headers.set("Content-Type", "application/json");
        }
        if (request.key() != null) {
            headers.set("Idempotency-Key", request.key());
        }
        if (credential != null && secret != null) {
            headers.set(credential.header(), secret);
        }
    }

    private static Mono<ApiResponse> read(HttpClientResponse response, ByteBufFlux content) {
        return content.asByteArray()
                .collect(ByteArrayOutputStream::new, HttpTransport::append)
                .map(all -> ApiResponse.of(
                        response.status().code(), response.responseHeaders().get("Retry-After"), all.toByteArray()));
    }

    private static void append(ByteArrayOutputStream all, byte[] part) {
        if (all.size() + part.length > LARGEST_RESPONSE) {
            throw new IllegalStateException("a response of more than %d bytes".formatted(LARGEST_RESPONSE));
        }
        all.writeBytes(part);
    }

    /** Some failures of a connection are no {@code IOException}. */
    private static Throwable noResponse(Throwable failure) {
        return failure instanceof IOException ? failure : new IOException(failure.toString(), failure);
    }

    @Override
    public void close() {
        forWaiting.dispose();
        forOthers.dispose();
    }
}
