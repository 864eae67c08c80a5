package io.fairgate.testkit.permit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairgate.permit.HeldPermits;
import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.RefusalReason;
import io.fairgate.shares.ShareSettings;
import io.fairgate.status.PoolStatus.TenantStatus;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.test.subscriber.TestSubscriber;

/** Which request runs when, and what its subscriber gets. */
abstract class GrantingContract extends PoolTopic {

    GrantingContract(PoolBackend backend) {
        super(backend);
    }

    @Test
    void nothing_is_requested_before_subscription() {
        PermitPool pool = poolOf(1);
        pool.withPermit(request("a"), new Work().mono);
        answer();
        assertThat(inFlight(pool)).isZero();
    }

    @Test
    void the_element_of_the_work_is_passed_on_and_the_permit_comes_back() {
        PermitPool pool = poolOf(1);
        TestSubscriber<String> answered = subscribe(pool.withPermit(request("a"), Mono.just("answer")));
        assertThat(answered.getReceivedOnNext()).containsExactly("answer");
        assertThat(answered.isTerminatedComplete()).isTrue();
        assertThat(heard.released).hasValue(1);
        assertThat(inFlight(pool)).isZero();
    }

    @Test
    void a_stream_holds_its_permit_to_its_last_element() {
        PermitPool pool = poolOf(1);
        Sinks.Many<Integer> upstream = Sinks.many().unicast().onBackpressureBuffer();
        TestSubscriber<Integer> received = subscribe(pool.withPermit(request("a"), upstream.asFlux()));
        upstream.tryEmitNext(1).orThrow();
        assertThat(received.getReceivedOnNext()).containsExactly(1);
        assertThat(inFlight(pool)).isOne();
        upstream.tryEmitComplete().orThrow();
        assertThat(received.isTerminatedComplete()).isTrue();
        assertThat(inFlight(pool)).isZero();
    }

    @Test
    void a_stream_is_requested_as_many_elements_as_its_subscriber_requests() {
        PermitPool pool = poolOf(1);
        List<Long> requested = new ArrayList<>();
        TestSubscriber<Integer> subscriber =
                TestSubscriber.builder().initialRequest(2).build();
        pool.withPermit(request("a"), Flux.range(1, 10).doOnRequest(requested::add))
                .subscribe(subscriber);
        answer();
        assertThat(subscriber.getReceivedOnNext()).containsExactly(1, 2);
        subscriber.request(3);
        answer();
        assertThat(subscriber.getReceivedOnNext()).containsExactly(1, 2, 3, 4, 5);
        cancel(subscriber);
        assertThat(requested).containsExactly(2L, 3L);
    }

    @Test
    void the_second_request_waits_until_the_first_releases_its_permit() {
        PermitPool pool = poolOf(1);
        Work first = new Work();
        Work second = new Work();
        run(pool, "a", first);
        run(pool, "b", second);
        assertThat(second.started).hasValue(0);
        complete(first);
        assertThat(second.started).hasValue(1);
        complete(second);
    }

    @Test
    void the_tenant_comes_from_the_context() {
        PermitPool pool = poolOf(1);
        Work work = new Work();
        subscribe(pool.withPermit(work.mono).contextWrite(c -> c.put(PermitPool.TENANT, TenantId.of("a"))));
        assertThat(status(pool).tenants())
                .singleElement()
                .extracting(TenantStatus::tenant)
                .isEqualTo(TenantId.of("a"));
        complete(work);
    }

    @Test
    void without_a_tenant_in_the_context_the_error_says_how_to_put_one_there() {
        assertThat(subscribe(poolOf(1).withPermit(Mono.just(1))).expectTerminalError())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("contextWrite");
    }

    @Test
    void the_error_of_the_work_is_passed_on_and_the_permit_comes_back() {
        PermitPool pool = poolOf(1);
        assertThat(subscribe(pool.withPermit(request("a"), Mono.error(new IllegalArgumentException("broken"))))
                        .expectTerminalError())
                .hasMessage("broken");
        assertThat(inFlight(pool)).isZero();
    }

    @Test
    void a_request_without_an_event_loop_runs_whether_it_waited_or_not() {
        PermitPool pool = poolOf(1);
        Work first = new Work();
        Work second = new Work();
        run(pool, PermitRequest.of("a"), first);
        assertThat(first.started).hasValue(1);
        run(pool, PermitRequest.of("a"), second);
        assertThat(second.started).hasValue(0);
        complete(first);
        assertThat(second.started).hasValue(1);
        complete(second);
    }

    @Test
    void a_request_that_has_to_wait_is_told_once_and_one_that_has_not_is_not() {
        PermitPool pool = poolOf(1);
        AtomicInteger told = new AtomicInteger();
        Work first = new Work();
        Work second = new Work();
        run(pool, request("a").withOnWaiting(told::incrementAndGet), first);
        assertThat(told).hasValue(0);
        run(pool, request("a").withOnWaiting(told::incrementAndGet), second);
        assertThat(told).hasValue(1);
        complete(first, second);
        assertThat(told).hasValue(1);
    }

    @Test
    void several_permits_that_come_back_at_once_start_as_many_works() {
        PermitPool pool = poolOf(3);
        Work large = new Work();
        Work[] small = {new Work(), new Work(), new Work()};
        run(pool, request("a").withPermits(3), large);
        for (Work work : small) {
            run(pool, "b", work);
        }
        complete(large);
        assertThat(small).allSatisfy(work -> assertThat(work.started).hasValue(1));
        complete(small);
    }

    @Test
    void a_permit_that_comes_back_inside_the_work_of_another_request_is_not_lost() {
        PermitPool pool = poolOf(1);
        Work first = new Work();
        Work last = new Work();
        Work blocker = new Work();
        run(pool, "a", blocker);
        subscribe(pool.withPermit(request("a"), first.mono.doOnSubscribe(s -> first.complete())));
        run(pool, "a", last);
        complete(blocker);
        assertThat(last.started).hasValue(1);
        complete(last);
    }

    @Test
    void a_hundred_thousand_works_that_complete_at_once_do_not_grow_the_stack() {
        PermitPool pool = poolOf(PoolSettings.ofPermits(1)
                .withMaxWaiting(100_000)
                .withMaxWait(Duration.ofHours(1))
                .withMaxHold(Duration.ofHours(1)));
        Work first = new Work();
        AtomicInteger done = new AtomicInteger();
        run(pool, "a", first);
        for (int i = 0; i < 100_000; i++) {
            pool.withPermit(request("b"), Mono.<Void>empty()).subscribe(v -> {}, e -> {}, done::incrementAndGet);
        }
        answer();
        complete(first);
        answerUntil(() -> done.get() == 100_000);
        assertThat(done).hasValue(100_000);
    }

    @Test
    void a_tenant_that_holds_permits_comes_after_one_that_holds_none() {
        PermitPool pool = poolOf(PoolSettings.ofPermits(2).withMaxWait(Duration.ofMinutes(1)));
        HeldPermits first = hold(pool, "noisy", 1);
        HeldPermits second = hold(pool, "noisy", 1);
        Work noisy = new Work();
        Work quiet = new Work();
        run(pool, "noisy", noisy);
        run(pool, "quiet", quiet);
        release(first);
        assertThat(noisy.started).as("of the tenant that holds one").hasValue(0);
        assertThat(quiet.started).as("of the tenant that holds none").hasValue(1);
        release(second);
        complete(noisy, quiet);
    }

    @Test
    void permits_that_were_collected_for_a_request_that_is_refused_go_to_the_others() {
        PermitPool pool = poolOf(PoolSettings.ofPermits(4).withMaxWaiting(2));
        HeldPermits held = hold(pool, "h", 2);
        Work large = new Work();
        Work second = new Work();
        Work third = new Work();
        TestSubscriber<Void> refused = run(pool, request("t").withPermits(3), large);
        run(pool, "u", second);
        run(pool, "v", third);
        assertRefused(refused, RefusalReason.POOL_QUEUE_FULL);
        assertThat(second.started).hasValue(1);
        assertThat(third.started).hasValue(1);
        release(held);
        complete(second, third);
    }

    @Test
    @SuppressWarnings("NullAway") // A caller without null checks can do this.
    void a_request_without_a_tenant_cannot_be_made() {
        assertThatThrownBy(() -> PermitRequest.of((TenantId) null)).hasMessage("tenant");
    }

    @Test
    void a_request_for_no_permits_or_for_more_than_any_pool_has_cannot_be_made() {
        assertThatThrownBy(() -> request("a").withPermits(0)).hasMessage("permits: 0 (expected: 1 to 1000000)");
        assertThatThrownBy(() -> request("a").withPermits(Integer.MIN_VALUE)).hasMessageContaining("expected");
        assertThatThrownBy(() -> request("a").withPermits(Integer.MAX_VALUE)).hasMessageContaining("expected");
    }

    @Test
    void whether_a_tenant_could_ever_be_granted_so_many_does_not_depend_on_what_is_free_now() {
        PermitPool pool = poolOf(
                PoolSettings.ofPermits(4),
                with("capped", ShareSettings.EQUAL.withMaxInFlight(2))
                        .withMember(TenantId.of("sure"), ShareSettings.EQUAL.withGuaranteed(1, 1)));
        Work all = new Work();
        run(pool, request("sure").withPermits(4), all);
        assertThat(could(pool, "a", 3)).isTrue();
        assertThat(could(pool, "a", 4)).isFalse();
        assertThat(could(pool, "sure", 4)).isTrue();
        assertThat(could(pool, "sure", 5)).isFalse();
        assertThat(could(pool, "capped", 2)).isTrue();
        assertThat(could(pool, "capped", 3)).isFalse();
        complete(all);
    }

    private boolean could(PermitPool pool, String tenant, int permits) {
        return answerOf(pool.couldGrant(TenantId.of(tenant), permits));
    }
}
