package io.fairgate.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.cloud.gateway.support.ServerWebExchangeUtils.CACHED_REQUEST_BODY_ATTR;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.springframework.cloud.gateway.support.ServerWebExchangeUtils;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.NettyDataBufferFactory;
import org.springframework.mock.http.server.reactive.MockServerHttpRequest;
import org.springframework.mock.web.server.MockServerWebExchange;
import reactor.core.publisher.Flux;

/** A body that Spring Cloud Gateway keeps for retries, when the request ends while it is being sent. */
class CachedBodyTest {

    private final ByteBuf memory = ByteBufAllocator.DEFAULT.buffer();
    private final MockServerWebExchange exchange =
            MockServerWebExchange.from(MockServerHttpRequest.post("/").body("kept"));

    /** As AdaptCachedBodyGlobalFilter leaves it. */
    private Flux<DataBuffer> cached() {
        memory.writeCharSequence("kept", StandardCharsets.US_ASCII);
        exchange.getAttributes()
                .put(CACHED_REQUEST_BODY_ATTR, new NettyDataBufferFactory(ByteBufAllocator.DEFAULT).wrap(memory));
        return Objects.requireNonNull(CachedBody.copyOf(exchange));
    }

    private static String text(Flux<DataBuffer> body) {
        return Objects.requireNonNull(body.blockFirst()).toString(StandardCharsets.US_ASCII);
    }

    @Test
    void it_can_be_sent_again_and_filters_can_read_it() {
        Flux<DataBuffer> body = cached();

        assertThat(text(body)).isEqualTo("kept");
        assertThat(text(body)).isEqualTo("kept");
        DataBuffer seen = exchange.getRequiredAttribute(CACHED_REQUEST_BODY_ATTR);
        assertThat(seen.toString(StandardCharsets.US_ASCII)).isEqualTo("kept");
        memory.release();
    }

    @Test
    void it_stays_when_the_request_ends_and_its_memory_is_freed() {
        Flux<DataBuffer> body = cached();
        DataBuffer sent = Objects.requireNonNull(body.blockFirst());
        ServerWebExchangeUtils.clearCachedRequestBody(exchange);

        assertThat(memory.refCnt()).isZero();
        assertThat(sent.toString(StandardCharsets.US_ASCII)).isEqualTo("kept");
        assertThat(text(body)).isEqualTo("kept");
    }
}
