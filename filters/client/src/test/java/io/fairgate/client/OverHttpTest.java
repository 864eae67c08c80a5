package io.fairgate.client;

import static io.fairgate.client.Loopback.answering;
import static io.fairgate.client.Loopback.closed;
import static io.fairgate.client.Loopback.silent;
import static io.fairgate.client.Loopback.until;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.fairgate.client.Loopback.Received;
import io.fairgate.testkit.TestTime;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

class OverHttpTest {

    private static final LeaseOptions OPTIONS =
            LeaseOptions.of("a").withMaxWait(Duration.ofSeconds(20)).withHolder("batch-7");

    private final Loopback loopback = new Loopback();
    private final TestTime time = new TestTime();
    private final LeaseClient client =
            LeaseClient.to(LeaseClientSettings.at(loopback.uri()).withTime(time));

    @AfterEach
    void close() {
        client.close();
        loopback.close();
    }

    private static <T> T value(Mono<T> mono) {
        return requireNonNull(mono.block(Duration.ofSeconds(30)));
    }

    private LeaseException refusal(Mono<?> mono) {
        AtomicReference<Throwable> error = new AtomicReference<>();
        mono.subscribe(any -> {}, error::set);
        until(() -> error.get() != null);
        return (LeaseException) requireNonNull(error.get());
    }

    @Test
    void the_calls_are_what_the_server_reads() {
        Lease lease = value(client.acquire(OPTIONS));
        time.advanceBy(Duration.ofSeconds(10));
        until(() -> loopback.received.size() == 2);
        lease.release().block(Duration.ofSeconds(30));

        Received acquire = loopback.received.get(0);
        assertThat(acquire.method()).isEqualTo("POST");
        assertThat(acquire.path()).isEqualTo("/v1/pools/a/leases");
        assertThat(acquire.body())
                .isEqualTo("{\"permits\":1,\"ttl\":\"30000ms\",\"maxWait\":\"20000ms\",\"holder\":\"batch-7\"}");
        assertThat(acquire.fields())
                .containsEntry("Content-Type", "application/json")
                .containsKey("Idempotency-Key");
        Received extend = loopback.received.get(1);
        assertThat(extend.method()).isEqualTo("PUT");
        assertThat(extend.path()).isEqualTo("/v1/leases/" + lease.id());
        assertThat(extend.body()).isEqualTo("{\"ttl\":\"30000ms\"}");
        assertThat(extend.fields()).doesNotContainKey("Idempotency-Key");
        Received release = loopback.received.get(2);
        assertThat(release.method()).isEqualTo("DELETE");
        assertThat(release.path()).isEqualTo(extend.path());
        assertThat(release.body()).isEmpty();
        assertThat(release.fields()).doesNotContainKey("Content-Type");
        assertThat(loopback.server.held()).isZero();
    }

    @Test
    void the_credential_is_asked_for_before_each_call() {
        AtomicInteger asked = new AtomicInteger();
        LeaseClientSettings server = LeaseClientSettings.at(URI.create(loopback.uri() + "/"))
                .withTime(time)
                .withCredential("X-Api-Key", () -> "key-" + asked.incrementAndGet());
        assertThat(server.toString()).doesNotContain("key-");
        try (LeaseClient identified = LeaseClient.to(server)) {
            value(identified.withLease(OPTIONS, lease -> Mono.just("done")));
        }
        assertThat(loopback.received)
                .extracting(received -> received.fields().get("X-Api-Key"))
                .containsExactly("key-1", "key-2");
        assertThat(loopback.received.get(0).path()).isEqualTo("/v1/pools/a/leases");
    }

    @Test
    void a_credential_that_throws_is_the_error() {
        LeaseClientSettings server = LeaseClientSettings.at(loopback.uri()).withCredential("X-Api-Key", () -> {
            throw new IllegalStateException("vault sealed");
        });
        try (LeaseClient identified = LeaseClient.to(server)) {
            assertThatExceptionOfType(IllegalStateException.class)
                    .isThrownBy(() -> identified.acquire(OPTIONS).block(Duration.ofSeconds(30)))
                    .withMessage("vault sealed");
        }
        assertThat(loopback.received).isEmpty();
    }

    @Test
    void a_credential_of_several_lines_is_not_sent_and_not_shown() {
        for (String secret : List.of("key\r\nX-Tenant-Id: other", "key\n")) {
            LeaseClientSettings server =
                    LeaseClientSettings.at(loopback.uri()).withCredential("X-Api-Key", () -> secret);
            try (LeaseClient identified = LeaseClient.to(server)) {
                assertThatExceptionOfType(IllegalStateException.class)
                        .isThrownBy(() -> identified.acquire(OPTIONS).block(Duration.ofSeconds(30)))
                        .withMessage("credential for X-Api-Key: with a control character (expected: one line of text)");
            }
        }
        assertThat(loopback.received).isEmpty();
    }

    @Test
    void a_connection_that_is_closed_before_the_answer_costs_nothing() {
        loopback.next(closed());
        AtomicReference<Lease> lease = new AtomicReference<>();
        Disposable asking = client.acquire(OPTIONS).subscribe(lease::set);
        until(() -> {
            time.advanceBy(Duration.ofMillis(10));
            return lease.get() != null;
        });

        assertThat(loopback.server.held()).isOne();
        assertThat(loopback.received.stream()
                        .map(each -> each.fields().get("Idempotency-Key"))
                        .distinct())
                .hasSize(1);
        asking.dispose();
        requireNonNull(lease.get()).release().block(Duration.ofSeconds(30));
    }

    @Test
    void an_answer_that_never_comes_ends_when_the_time_is_over() {
        loopback.next(silent(), silent());
        AtomicReference<Throwable> error = new AtomicReference<>();
        client.acquire(LeaseOptions.of("a")).subscribe(any -> {}, error::set);
        until(() -> loopback.received.size() == 1);
        time.advanceBy(Duration.ofSeconds(5));
        until(() -> loopback.received.size() == 2);
        assertThat(error.get()).isNull();
        time.advanceBy(Duration.ofSeconds(5));
        until(() -> error.get() != null);

        assertThat(error.get())
                .isInstanceOfSatisfying(
                        LeaseException.class, e -> assertThat(e.reason()).isEqualTo("unreachable"));
    }

    @Test
    void a_waiting_acquisition_delays_no_extension() {
        try (LeaseClient narrow = LeaseClient.to(
                LeaseClientSettings.at(loopback.uri()).withConnections(1).withTime(time))) {
            Lease lease = value(narrow.acquire(LeaseOptions.of("a", 2)));
            Disposable waiting = narrow.acquire(OPTIONS).subscribe();
            until(() -> loopback.server.waiting() == 1);
            time.advanceBy(Duration.ofSeconds(10));
            until(() -> loopback.server.calls("PUT").size() == 1);
            waiting.dispose();
            until(() -> loopback.server.waiting() == 0);
            lease.release().block(Duration.ofSeconds(30));
        }
        assertThat(loopback.server.held()).isZero();
    }

    @Test
    void an_acquisition_that_waits_for_a_connection_can_be_cancelled() {
        try (LeaseClient narrow = LeaseClient.to(
                LeaseClientSettings.at(loopback.uri()).withConnections(1).withTime(time))) {
            String other = loopback.server.grantToAnother("a", 2, Duration.ofMinutes(5));
            Disposable first = narrow.acquire(OPTIONS).subscribe();
            until(() -> loopback.server.waiting() == 1);
            Disposable second = narrow.acquire(LeaseOptions.of("b").withMaxWait(Duration.ofSeconds(9)))
                    .subscribe();
            second.dispose();
            first.dispose();
            until(() -> loopback.server.waiting() == 0
                    && loopback.server.calls("DELETE").size() == 2);
            loopback.server.end(other);
        }
        assertThat(loopback.server.held()).isZero();
    }

    @Test
    void a_problem_is_an_error_with_its_reason_and_a_redirect_is_not_followed() {
        LeaseException unknown = refusal(client.acquire(LeaseOptions.of("none of them")));
        assertThat(unknown.status()).isEqualTo(404);
        assertThat(unknown.reason()).isEqualTo("unknown-pool");
        assertThat(loopback.received.get(0).path()).isEqualTo("/v1/pools/none%20of%20them/leases");

        loopback.next(answering(307, Map.of("Location", loopback.uri() + "/v1/elsewhere"), ""));
        assertThat(refusal(client.acquire(LeaseOptions.of("a"))).reason()).isEqualTo("http-307");
    }

    @Test
    void retry_after_is_read() {
        loopback.next(answering(429, Map.of("Retry-After", "3600"), "{\"reason\":\"quota-exceeded\"}"));
        assertThat(refusal(client.acquire(OPTIONS)).reason()).isEqualTo("quota-exceeded");
    }

    @Test
    void an_answer_without_end_is_not_read_to_its_end() {
        loopback.next((response, answer) ->
                response.sendString(Flux.just("x".repeat(1000)).repeat()));
        assertThat(refusal(client.acquire(LeaseOptions.of("a")))).hasMessageContaining("65536");
    }

    @Test
    void a_server_that_is_not_there_is_an_error() {
        loopback.close();
        assertThat(refusal(client.acquire(LeaseOptions.of("a"))).reason()).isEqualTo("unreachable");
    }

    @Test
    void a_lease_is_emitted_and_worked_on_outside_of_the_event_loops() {
        try (LeaseClient onItsOwnTime = LeaseClient.to(loopback.uri())) {
            String thread = value(onItsOwnTime
                    .acquire(OPTIONS)
                    .map(lease -> Thread.currentThread().getName()));
            assertThat(thread).startsWith("parallel-");
        }
    }

    @Test
    void holders_that_come_and_leave_on_many_threads_never_exceed_the_pool_and_leave_nothing() {
        AtomicInteger working = new AtomicInteger();
        AtomicInteger mostWorking = new AtomicInteger();
        try (LeaseClient onItsOwnTime =
                LeaseClient.to(LeaseClientSettings.at(loopback.uri()).withConnections(8))) {
            Mono<Integer> work = onItsOwnTime.withLease(
                    // What a stalled machine could not give back in time is granted again when it has expired.
                    OPTIONS.withMaxWait(Duration.ofMinutes(2)),
                    // Counted off before it signals its end: doFinally does so after, when the release may have been
                    // sent.
                    lease -> Mono.using(
                            working::incrementAndGet,
                            now -> {
                                mostWorking.accumulateAndGet(now, Math::max);
                                return Mono.delay(Duration.ofMillis(1)).thenReturn(now);
                            },
                            now -> working.decrementAndGet()));
            List<Integer> done = Flux.range(0, 300)
                    .flatMap(
                            n -> n % 3 == 0
                                    ? work
                                    : work.take(Duration.ofNanos(
                                            ThreadLocalRandom.current().nextInt(30_000_000))),
                            8)
                    .collectList()
                    .block(Duration.ofMinutes(5));
            assertThat(done).hasSizeGreaterThanOrEqualTo(100);
            until(() -> loopback.server.held() == 0 && loopback.server.waiting() == 0);
        }
        assertThat(mostWorking.get()).isLessThanOrEqualTo(2);
        assertThat(loopback.server.mostHeld("a")).isLessThanOrEqualTo(2);
    }
}
