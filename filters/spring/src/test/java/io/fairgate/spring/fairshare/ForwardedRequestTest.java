package io.fairgate.spring.fairshare;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.spring.refusal.ClientLeftException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DefaultDataBufferFactory;
import org.springframework.mock.http.server.reactive.MockServerHttpRequest;
import reactor.core.publisher.Flux;
import reactor.test.StepVerifier;
import reactor.test.publisher.TestPublisher;

/** The bytes that the upstream gets of a body of eight bytes. */
class ForwardedRequestTest {

    private final AtomicBoolean whole = new AtomicBoolean();
    private final TestPublisher<DataBuffer> client = TestPublisher.create();
    private final Flux<DataBuffer> body = new ForwardedRequest(
                    MockServerHttpRequest.post("/").contentLength(8).build(), client.flux(), () -> whole.set(true))
            .getBody();

    private static DataBuffer fourBytes() {
        return DefaultDataBufferFactory.sharedInstance.wrap(new byte[4]);
    }

    @Test
    void a_body_is_whole_when_its_last_byte_is_passed_on() {
        StepVerifier.create(body)
                .then(() -> client.next(fourBytes()))
                .expectNextCount(1)
                .then(() -> assertThat(whole).isFalse())
                .then(() -> client.next(fourBytes()))
                .expectNextCount(1)
                .then(() -> assertThat(whole).isTrue())
                .then(client::complete)
                .verifyComplete();
    }

    @Test
    void a_client_that_leaves_after_the_last_byte_does_not_change_the_body() {
        StepVerifier.create(body)
                .then(() -> client.next(fourBytes(), fourBytes()).error(new ClientLeftException()))
                .expectNextCount(2)
                .verifyComplete();
    }

    @Test
    void a_client_that_leaves_before_the_last_byte_breaks_the_body_off() {
        StepVerifier.create(body)
                .then(() -> client.next(fourBytes()).error(new ClientLeftException()))
                .expectNextCount(1)
                .verifyError(ClientLeftException.class);
        assertThat(whole).isFalse();
    }

    @Test
    void a_body_that_ends_too_early_is_an_error() {
        StepVerifier.create(body)
                .then(() -> client.next(fourBytes()).complete())
                .expectNextCount(1)
                .verifyErrorMessage("the body of the request ended after 4 bytes (expected: 8, its Content-Length)");
        assertThat(whole).isFalse();
    }
}
