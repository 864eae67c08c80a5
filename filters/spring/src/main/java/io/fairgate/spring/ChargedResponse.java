package io.fairgate.spring;

import java.util.concurrent.atomic.AtomicLong;
import org.reactivestreams.Publisher;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.http.server.reactive.ServerHttpResponseDecorator;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** A response that is watched for what its request took. */
final class ChargedResponse extends ServerHttpResponseDecorator {

    private final RequestCost cost;
    private final AtomicLong bytes = new AtomicLong();
    private volatile boolean isWhole;

    ChargedResponse(ServerHttpResponse response, RequestCost cost) {
        super(response);
        this.cost = cost;
    }

    /**
     * What the request took, as far as that is known. Of a body that was not written to its end the upstream has done as
     * much work as was estimated, or more. How the exchange ended does not tell: when a client leaves, it may complete.
     */
    long units() {
        long units = cost.units();
        if (cost.response() instanceof ResponseCost.Bytes bodies) {
            long counted = bodies.units(bytes.get());
            units = isWhole ? counted : Math.max(units, counted);
        } else if (cost.response() instanceof ResponseCost.Field field) {
            Long told = field.units(getHeaders());
            units = told == null ? units : told;
        }
        return units;
    }

    @Override
    public Mono<Void> writeWith(Publisher<? extends DataBuffer> body) {
        return super.writeWith(isCounted() ? counted(body).doOnComplete(this::end) : body);
    }

    @Override
    public Mono<Void> writeAndFlushWith(Publisher<? extends Publisher<? extends DataBuffer>> body) {
        return super.writeAndFlushWith(
                isCounted() ? Flux.from(body).map(this::counted).doOnComplete(this::end) : body);
    }

    private boolean isCounted() {
        return cost.response() instanceof ResponseCost.Bytes;
    }

    private Flux<? extends DataBuffer> counted(Publisher<? extends DataBuffer> body) {
        return Flux.from(body).doOnNext(buffer -> bytes.addAndGet(buffer.readableByteCount()));
    }

    private void end() {
        isWhole = true;
    }
}
