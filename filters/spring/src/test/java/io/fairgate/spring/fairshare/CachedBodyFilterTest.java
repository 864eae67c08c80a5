package io.fairgate.spring.fairshare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.cloud.gateway.support.ServerWebExchangeUtils.CACHED_REQUEST_BODY_ATTR;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.springframework.cloud.gateway.event.EnableBodyCachingEvent;
import org.springframework.cloud.gateway.filter.AdaptCachedBodyGlobalFilter;
import org.springframework.cloud.gateway.filter.GatewayFilterChain;
import org.springframework.cloud.gateway.filter.RemoveCachedBodyFilter;
import org.springframework.cloud.gateway.route.Route;
import org.springframework.cloud.gateway.support.ServerWebExchangeUtils;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.NettyDataBufferFactory;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.mock.http.server.reactive.MockServerHttpRequest;
import org.springframework.mock.web.server.MockServerWebExchange;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.ServerWebExchangeDecorator;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** A body that Spring Cloud Gateway keeps for retries, behind Spring Cloud Gateway's own filters, as they are ordered. */
class CachedBodyFilterTest {

    private final ByteBuf memory =
            ByteBufAllocator.DEFAULT.buffer().writeBytes("kept".getBytes(StandardCharsets.US_ASCII));
    private final DataBuffer received = new NettyDataBufferFactory(ByteBufAllocator.DEFAULT).wrap(memory);
    private final List<ServerWebExchange> forwarded = new ArrayList<>();
    private final AdaptCachedBodyGlobalFilter adapt = new AdaptCachedBodyGlobalFilter();
    private final CachedBodyFilter ours = new CachedBodyFilter();

    /** The forwarded request never ends. */
    private Disposable send(Flux<DataBuffer> body) {
        Route route = Route.async()
                .id("route")
                .uri("http://127.0.0.1:9")
                .predicate(exchange -> true)
                .build();
        adapt.onApplicationEvent(new EnableBodyCachingEvent(this, route.getId()));
        MockServerWebExchange exchange =
                MockServerWebExchange.from(MockServerHttpRequest.post("/").body(body));
        exchange.getAttributes().put(ServerWebExchangeUtils.GATEWAY_ROUTE_ATTR, route);
        GatewayFilterChain upstream = seen -> {
            forwarded.add(seen);
            return Mono.never();
        };
        GatewayFilterChain fromOurs = seen -> Mono.defer(() -> ours.filter(seen, upstream));
        GatewayFilterChain fromAdapt = seen -> Mono.defer(() -> adapt.filter(seen, fromOurs));
        return new RemoveCachedBodyFilter().filter(exchange, fromAdapt).subscribe();
    }

    private static String text(Flux<DataBuffer> body) {
        return Objects.requireNonNull(body.blockFirst()).toString(StandardCharsets.US_ASCII);
    }

    @Test
    void the_filter_is_right_after_the_one_that_caches_the_body() {
        assertThat(ours.getOrder()).isEqualTo(adapt.getOrder() + 1);
    }

    @Test
    void a_cached_body_can_be_read_again_after_the_request() {
        Disposable request = send(Flux.just(received));
        ServerHttpRequest passedOn = forwarded.get(0).getRequest();
        assertThat(CachedBodyFilter.isCached(forwarded.get(0))).isTrue();
        assertThat(text(passedOn.getBody())).isEqualTo("kept");
        DataBuffer seen = forwarded.get(0).getRequiredAttribute(CACHED_REQUEST_BODY_ATTR);
        assertThat(seen.toString(StandardCharsets.US_ASCII)).isEqualTo("kept");

        DataBuffer sent = Objects.requireNonNull(passedOn.getBody().blockFirst());
        request.dispose();
        assertThat(sent.toString(StandardCharsets.US_ASCII)).isEqualTo("kept");
        assertThat(text(passedOn.getBody())).isEqualTo("kept");
    }

    @Test
    void the_memory_of_netty_is_free_at_once() {
        Disposable request = send(Flux.just(received));
        assertThat(memory.refCnt()).isZero();
        request.dispose();
    }

    /** The end of a request removes the body and then frees it, on any thread. */
    @Test
    void a_body_freed_by_the_end_of_the_request_is_not_freed_again() {
        MockServerWebExchange exchange = MockServerWebExchange.from(MockServerHttpRequest.post("/"));
        AtomicInteger looks = new AtomicInteger();
        exchange.getAttributes().put(CACHED_REQUEST_BODY_ATTR, received);
        ServerWebExchange ending = new ServerWebExchangeDecorator(exchange) {
            @Override
            public Map<String, Object> getAttributes() {
                if (looks.incrementAndGet() == 2) {
                    ServerWebExchangeUtils.clearCachedRequestBody(exchange);
                }
                return exchange.getAttributes();
            }
        };
        assertThat(CachedBodyFilter.onHeap(ending)).isSameAs(ending);
        assertThat(looks).hasValue(2);
        assertThat(memory.refCnt()).isZero();
    }

    @Test
    void a_request_without_a_body_is_passed_on_as_it_is() {
        memory.release();
        Disposable request = send(Flux.empty());
        assertThat(CachedBodyFilter.isCached(forwarded.get(0))).isFalse();
        assertThat(forwarded.get(0).getRequest().getBody().blockFirst()).isNull();
        request.dispose();
    }
}
