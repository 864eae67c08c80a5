package io.fairgate.spring.fairshare;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.spring.refusal.ClientLeftException;
import org.junit.jupiter.api.Test;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DefaultDataBufferFactory;
import reactor.test.StepVerifier;
import reactor.test.publisher.TestPublisher;

/** A body whose exchange ends when its reading begins. */
class ReadAheadBodyTest {

    private final ByteBudget budget = new ByteBudget(1000);
    private final TestPublisher<DataBuffer> client = TestPublisher.create();
    private final ReadAheadBody body = new ReadAheadBody(client.flux(), budget, true);

    private static DataBuffer buffer() {
        return DefaultDataBufferFactory.sharedInstance.wrap(new byte[100]);
    }

    @Test
    void a_body_that_was_discarded_before_it_began_is_not_read() {
        body.discard();
        body.start();

        client.assertCancelled();
        assertThat(budget.used()).isZero();
    }

    @Test
    void a_discarded_body_is_returned_to_the_budget() {
        body.start();
        client.next(buffer());
        assertThat(budget.used()).isEqualTo(100);
        body.discard();

        client.assertCancelled();
        assertThat(budget.used()).isZero();
    }

    @Test
    void a_client_that_leaves_before_the_first_byte_has_no_empty_body() {
        body.start();
        client.error(new ClientLeftException());

        StepVerifier.create(body.body()).verifyError(ClientLeftException.class);
    }
}
