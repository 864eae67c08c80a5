package io.fairgate.spring.fairshare;

import java.util.concurrent.atomic.AtomicLong;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpRequestDecorator;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** A request with the body for the upstream. Reports when as many bytes as its Content-Length were passed on. */
final class ForwardedRequest extends ServerHttpRequestDecorator {

    private final Flux<DataBuffer> body;
    private final Runnable whole;

    /** @param whole runs before the last byte is passed on, for each subscriber of the body */
    ForwardedRequest(ServerHttpRequest request, Flux<DataBuffer> body, Runnable whole) {
        super(request);
        this.body = body;
        this.whole = whole;
    }

    /**
     * Over HTTP/2 all bytes of a body may arrive, and the end of the stream never: an error after the last byte is
     * ignored, because the upstream is at work. A body that ends too early is an error: the upstream would wait.
     */
    @Override
    public Flux<DataBuffer> getBody() {
        long length = getHeaders().getContentLength();
        return length < 0 ? body : Flux.defer(() -> toItsEnd(length));
    }

    private Flux<DataBuffer> toItsEnd(long length) {
        AtomicLong left = new AtomicLong(length);
        return body.doOnSubscribe(begun -> passOn(left, 0))
                .doOnNext(buffer -> passOn(left, buffer.readableByteCount()))
                .concatWith(Mono.defer(() -> left.get() <= 0 ? Mono.empty() : tooShort(length, left.get())))
                .onErrorComplete(failure -> left.get() <= 0);
    }

    private void passOn(AtomicLong left, int bytes) {
        if (left.addAndGet(-bytes) <= 0) {
            whole.run();
        }
    }

    private static <T> Mono<T> tooShort(long length, long left) {
        return Mono.error(new IllegalStateException(
                "the body of the request ended after %d bytes (expected: %d, its Content-Length)"
                        .formatted(length - left, length)));
    }
}
