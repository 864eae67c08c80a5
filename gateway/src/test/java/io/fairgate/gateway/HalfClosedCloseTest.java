package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A client that closes its side of the connection after its request, where the operator takes it for one that has left. */
class HalfClosedCloseTest {

    @RegisterExtension
    final GatewayAndUpstream both = new GatewayAndUpstream();

    @Test
    void it_gets_no_answer_and_its_place_in_the_queue_is_free() throws Exception {
        CountDownLatch firstMayEnd = new CountDownLatch(1);
        both.upstream().on("/fair/first", exchange -> {
            exchange.await(firstMayEnd);
            ScriptedUpstream.OK.answer(exchange);
        });
        both.start(
                TestPolicy.onePool("http://UPSTREAM", "permits: 1, max-wait: 30s"),
                "--fairgate.clients.half-closed=close");
        try (RawClient first = new RawClient(both.gateway().port());
                RawClient half = new RawClient(both.gateway().port())) {
            first.get("/fair/first", "a");
            both.gateway().awaitInFlight("pool", 1);
            half.get("/fair/half", "b");
            both.gateway().awaitWaiting("pool", 1);
            half.shutdownOutput();
            assertThat(half.readAll()).isEmpty();
            both.gateway().awaitWaiting("pool", 0);
            firstMayEnd.countDown();
            first.readUntil("ok");
        }
        assertThat(both.upstream().requests()).containsExactly("GET /fair/first HTTP/1.1");
    }
}
