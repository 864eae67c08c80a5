package io.fairgate.spring.fairshare;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.spring.exchange.Exchanges;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.http.HttpHeaders;
import org.springframework.mock.http.server.reactive.MockServerHttpRequest;
import org.springframework.mock.web.server.MockServerWebExchange;

/** Which waits can be looked up. */
class ExplainedWaitsTest {

    private static final Duration SECOND = Duration.ofSeconds(1);

    private static boolean isExplained(Duration longerThan, Duration waited, String... headers) {
        HttpHeaders fields = new HttpHeaders();
        for (String header : headers) {
            fields.add("Fairgate-Explain", header);
        }
        MockServerWebExchange exchange =
                MockServerWebExchange.from(MockServerHttpRequest.get("/").headers(fields));
        new ExplainedWaits(longerThan).mark(exchange, waited.toNanos());
        Exchanges.addFields(exchange);
        String id = Exchanges.waitId(exchange);
        assertThat(exchange.getResponse().getHeaders().getFirst("Fairgate-Decision"))
                .isEqualTo(id);
        return id != null;
    }

    @Test
    void long_waits_and_those_of_requests_that_ask() {
        assertThat(isExplained(SECOND, SECOND)).isTrue();
        assertThat(isExplained(SECOND, SECOND.minusNanos(1))).isFalse();
        assertThat(isExplained(Duration.ZERO, SECOND)).isFalse();
        assertThat(isExplained(Duration.ZERO, Duration.ZERO, "1")).isTrue();
        assertThat(isExplained(Duration.ZERO, SECOND, "0")).isFalse();
    }
}
