package io.fairgate.testkit.permit;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PermitRequest;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** The permits of a work that was cancelled or has failed come back when it has settled. */
abstract class SettlingContract extends PoolTopic {

    SettlingContract(PoolBackend backend) {
        super(backend);
    }

    @Test
    void the_permit_of_a_cancelled_work_comes_back_when_it_has_settled() {
        PermitPool pool = poolOf(1);
        Sinks.Empty<Void> settled = Sinks.empty();
        Work work = new Work();
        cancel(run(pool, request("a").withSettled(settled.asMono()), work));
        assertThat(work.cancelled).hasValue(1);
        assertThat(inFlight(pool)).isOne();
        settled.tryEmitEmpty().orThrow();
        assertThat(inFlight(pool)).isZero();
        assertThat(heard.released).hasValue(1);
    }

    @Test
    void the_permit_of_a_cancelled_work_comes_back_when_settling_fails_or_takes_too_long() {
        PermitPool pool = poolOf(2);
        Sinks.Empty<Void> tooLate = Sinks.empty();
        cancel(run(pool, request("a").withSettled(tooLate.asMono()), new Work()));
        cancel(run(pool, request("a").withSettled(Mono.error(new IllegalStateException("boom"))), new Work()));
        assertThat(inFlight(pool)).isOne();
        pass(PermitRequest.SETTLE_WITHIN);
        assertThat(inFlight(pool)).isZero();
        tooLate.tryEmitEmpty().orThrow();
        answer();
        assertThat(heard.released).hasValue(2);
    }

    @Test
    void a_request_bounds_how_long_its_permit_waits_for_a_cancelled_work_to_settle() {
        PermitPool pool = poolOf(1);
        Duration within = PermitRequest.SETTLE_WITHIN.multipliedBy(60);
        AtomicBoolean isLeft = new AtomicBoolean();
        Mono<Void> settled = Mono.<Void>never().doOnCancel(() -> isLeft.set(true));
        cancel(run(pool, request("a").withSettled(settled).withSettleWithin(within), new Work()));
        pass(within.minusMillis(50));
        assertThat(inFlight(pool)).isOne();
        assertThat(isLeft).isFalse();
        pass(Duration.ofMillis(50));
        assertThat(inFlight(pool)).isZero();
        assertThat(isLeft).as("the subscription to settled was cancelled").isTrue();
        assertThat(heard.released).hasValue(1);
    }

    @Test
    void the_permit_of_a_failed_work_comes_back_when_it_has_settled_and_the_error_does_not_wait_for_that() {
        PermitPool pool = poolOf(1);
        Sinks.Empty<Void> settled = Sinks.empty();
        Mono<Void> failing = Mono.error(new IllegalStateException("boom"));
        assertThat(subscribe(pool.withPermit(request("a").withSettled(settled.asMono()), failing))
                        .expectTerminalError())
                .hasMessage("boom");
        assertThat(inFlight(pool)).isOne();
        settled.tryEmitEmpty().orThrow();
        assertThat(inFlight(pool)).isZero();
    }

    @Test
    void a_work_that_completes_need_not_settle() {
        PermitPool pool = poolOf(1);
        Work work = new Work();
        run(pool, request("a").withSettled(Mono.never()), work);
        complete(work);
        assertThat(inFlight(pool)).isZero();
    }
}
