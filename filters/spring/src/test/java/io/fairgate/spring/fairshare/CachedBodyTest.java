package io.fairgate.spring.fairshare;

import io.fairgate.spring.refusal.ClientLeftException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.cloud.gateway.support.ServerWebExchangeUtils.CACHED_REQUEST_BODY_ATTR;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.springframework.cloud.gateway.support.ServerWebExchangeUtils;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.core.io.buffer.NettyDataBufferFactory;
import org.springframework.mock.http.server.reactive.MockServerHttpRequest;
import org.springframework.mock.web.server.MockServerWebExchange;
import reactor.test.StepVerifier;

/** A body that Spring Cloud Gateway keeps for retries, when the request ends while it is being sent. */
class CachedBodyTest {

    private final ByteBuf memory = ByteBufAllocator.DEFAULT.buffer();
    private final MockServerWebExchange exchange =
            MockServerWebExchange.from(MockServerHttpRequest.post("/").body("kept"));

    /** As AdaptCachedBodyGlobalFilter leaves it. */
    private CachedBody taken() {
        memory.writeCharSequence("kept", StandardCharsets.US_ASCII);
        exchange.getAttributes()
                .put(CACHED_REQUEST_BODY_ATTR, new NettyDataBufferFactory(ByteBufAllocator.DEFAULT).wrap(memory));
        return Objects.requireNonNull(CachedBody.takeFrom(exchange));
    }

    @Test
    void what_is_being_sent_stays_when_the_request_ends() {
        CachedBody body = taken();
        DataBuffer sent = Objects.requireNonNull(body.body().blockFirst());

        body.release();
        ServerWebExchangeUtils.clearCachedRequestBody(exchange);

        assertThat(sent.toString(StandardCharsets.US_ASCII)).isEqualTo("kept");
        DataBufferUtils.release(sent);
        assertThat(memory.refCnt()).isZero();
    }

    @Test
    void it_can_be_sent_again_and_filters_can_read_it() {
        CachedBody body = taken();
        List<String> sent = new ArrayList<>();
        for (int attempt = 0; attempt < 2; attempt++) {
            DataBuffer all =
                    Objects.requireNonNull(DataBufferUtils.join(body.body()).block());
            sent.add(all.toString(StandardCharsets.US_ASCII));
            DataBufferUtils.release(all);
        }

        assertThat(sent).containsExactly("kept", "kept");
        DataBuffer seen = exchange.getRequiredAttribute(CACHED_REQUEST_BODY_ATTR);
        assertThat(seen.toString(StandardCharsets.US_ASCII)).isEqualTo("kept");
        body.release();
        assertThat(memory.refCnt()).isZero();
    }

    @Test
    void a_body_that_is_gone_is_an_error_and_not_an_empty_body() {
        CachedBody body = taken();
        body.release();

        StepVerifier.create(body.body()).verifyError(ClientLeftException.class);
    }
}
