package io.fairgate.testkit.permit;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PermitRequest;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** The permits of a work that was cancelled or has failed come back when it has quiesced. */
abstract class QuiescingContract extends PoolTopic {

    QuiescingContract(PoolBackend backend) {
        super(backend);
    }

    @Test
    void the_permit_of_a_cancelled_work_comes_back_when_it_has_quiesced() {
        PermitPool pool = poolOf(1);
        Sinks.Empty<Void> quiesced = Sinks.empty();
        Work work = new Work();
        cancel(run(pool, request("a").withQuiesced(quiesced.asMono()), work));
        assertThat(work.cancelled).hasValue(1);
        assertThat(inFlight(pool)).isOne();
        quiesced.tryEmitEmpty().orThrow();
        assertThat(inFlight(pool)).isZero();
        assertThat(heard.released).hasValue(1);
    }

    @Test
    void the_permit_of_a_cancelled_work_comes_back_when_quiescing_fails_or_takes_too_long() {
        PermitPool pool = poolOf(2);
        Sinks.Empty<Void> tooLate = Sinks.empty();
        cancel(run(pool, request("a").withQuiesced(tooLate.asMono()), new Work()));
        cancel(run(pool, request("a").withQuiesced(Mono.error(new IllegalStateException("boom"))), new Work()));
        assertThat(inFlight(pool)).isOne();
        pass(PermitRequest.QUIESCE_WITHIN);
        assertThat(inFlight(pool)).isZero();
        tooLate.tryEmitEmpty().orThrow();
        answer();
        assertThat(heard.released).hasValue(2);
    }

    @Test
    void a_request_bounds_how_long_its_permit_waits_for_a_cancelled_work_to_quiesce() {
        PermitPool pool = poolOf(1);
        Duration within = PermitRequest.QUIESCE_WITHIN.multipliedBy(60);
        AtomicBoolean isLeft = new AtomicBoolean();
        Mono<Void> quiesced = Mono.<Void>never().doOnCancel(() -> isLeft.set(true));
        cancel(run(pool, request("a").withQuiesced(quiesced).withQuiesceWithin(within), new Work()));
        pass(within.minusMillis(50));
        assertThat(inFlight(pool)).isOne();
        assertThat(isLeft).isFalse();
        pass(Duration.ofMillis(50));
        assertThat(inFlight(pool)).isZero();
        assertThat(isLeft).as("the subscription to quiesced was cancelled").isTrue();
        assertThat(heard.released).hasValue(1);
    }

    @Test
    void the_permit_of_a_failed_work_comes_back_when_it_has_quiesced_and_the_error_does_not_wait_for_that() {
        PermitPool pool = poolOf(1);
        Sinks.Empty<Void> quiesced = Sinks.empty();
        Mono<Void> failing = Mono.error(new IllegalStateException("boom"));
        assertThat(subscribe(pool.withPermit(request("a").withQuiesced(quiesced.asMono()), failing))
                        .expectTerminalError())
                .hasMessage("boom");
        assertThat(inFlight(pool)).isOne();
        quiesced.tryEmitEmpty().orThrow();
        assertThat(inFlight(pool)).isZero();
    }

    @Test
    void a_work_that_completes_need_not_quiesce() {
        PermitPool pool = poolOf(1);
        Work work = new Work();
        run(pool, request("a").withQuiesced(Mono.never()), work);
        complete(work);
        assertThat(inFlight(pool)).isZero();
    }
}
