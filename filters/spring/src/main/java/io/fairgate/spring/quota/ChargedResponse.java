package io.fairgate.spring.quota;

import org.reactivestreams.Publisher;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.http.server.reactive.ServerHttpResponseDecorator;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** A response whose request is charged by the bytes of its body. */
final class ChargedResponse extends ServerHttpResponseDecorator {

    private final UpstreamWork work;

    ChargedResponse(ServerHttpResponse response, UpstreamWork work) {
        super(response);
        this.work = work;
    }

    @Override
    public Mono<Void> writeWith(Publisher<? extends DataBuffer> body) {
        return super.writeWith(counted(body).doOnComplete(work::end));
    }

    @Override
    public Mono<Void> writeAndFlushWith(Publisher<? extends Publisher<? extends DataBuffer>> body) {
        return super.writeAndFlushWith(Flux.from(body).map(this::counted).doOnComplete(work::end));
    }

    private Flux<? extends DataBuffer> counted(Publisher<? extends DataBuffer> body) {
        return Flux.from(body).doOnNext(buffer -> work.write(buffer.readableByteCount()));
    }
}
