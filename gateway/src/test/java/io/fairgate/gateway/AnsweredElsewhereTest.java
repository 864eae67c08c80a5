package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A connection whose requests are answered on other threads than that of its event loop: on that of a timer, or of an upstream's connection.
 * It must read the next request, which comes at the moment of the answer.
 */
class AnsweredElsewhereTest {

    private static final int REQUESTS = 300;

    @RegisterExtension
    final GatewayAndUpstream both = new GatewayAndUpstream();

    @Test
    void refusals_by_a_timer() throws IOException {
        CountDownLatch end = new CountDownLatch(1);
        both.upstream().on("/fair/held", exchange -> {
            exchange.await(end);
            ScriptedUpstream.OK.answer(exchange);
        });
        both.start(TestPolicy.onePool("http://UPSTREAM", "permits: 1, max-wait: 5ms"));
        try (RawClient holder = new RawClient(both.gateway().port())) {
            holder.get("/fair/held", "a");
            both.gateway().awaitInFlight("pool", 1);
            assertAnswered(503, 504);
            end.countDown();
            holder.readUntil("ok");
        }
    }

    @Test
    void responses_of_connections_to_an_upstream() throws IOException {
        both.start(TestPolicy.onePool("http://UPSTREAM", "permits: 4"));
        assertAnswered(200);
    }

    private void assertAnswered(Integer... statuses) throws IOException {
        for (int i = 0; i < REQUESTS; i += 10) {
            try (RawClient client = new RawClient(both.gateway().port())) {
                for (int j = i; j < i + 10; j++) {
                    RawAnswer answer = client.get("/fair/x", "b").answer();
                    assertThat(Objects.requireNonNull(answer).status())
                            .as("request %d", j)
                            .isIn((Object[]) statuses);
                }
            }
        }
    }
}
