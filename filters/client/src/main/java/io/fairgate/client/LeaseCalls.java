package io.fairgate.client;

import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.util.retry.Retry;

/**
 * The calls of the lease API. Each is sent once subscribed, and errors with {@link IOException} when no answer came in time.
 * All of them may be repeated.
 */
final class LeaseCalls {

    /** The time that an answer may take, in addition to the time that the server may wait. */
    static final Duration ANSWER = Duration.ofSeconds(5);

    /** The bound for all attempts to give something back. What was not given back by then expires. */
    static final Duration GIVE_BACK = Duration.ofSeconds(5);

    private static final Duration GIVE_BACK_TRY = Duration.ofSeconds(2);
    private static final int GIVE_BACK_TRIES = 5;

    private final Transport transport;
    private final Scheduler time;
    private final Pauses pauses;

    /**
     * Drawn once: system randomness is read from a file, and keys are made on threads that must not block. It need not be
     * secret, because each tenant has keys of its own.
     */
    private final String keyPrefix = UUID.randomUUID() + "-";

    private final AtomicLong keys = new AtomicLong();

    LeaseCalls(Transport transport, Scheduler time, Pauses pauses) {
        this.transport = transport;
        this.time = time;
        this.pauses = pauses;
    }

    Scheduler time() {
        return time;
    }

    Pauses pauses() {
        return pauses;
    }

    long now() {
        return time.now(TimeUnit.NANOSECONDS);
    }

    Mono<Long> pause(long nanos) {
        return nanos <= 0 ? Mono.just(0L) : Mono.delay(Duration.ofNanos(nanos), time);
    }

    /** A key that no other claim has, in this program or in another. */
    String newKey() {
        return keyPrefix + keys.incrementAndGet();
    }

    Mono<Answer> acquire(LeaseOptions options, String key, Duration patience) {
        return acquire(options, key, patience, ANSWER);
    }

    private Mono<Answer> acquire(LeaseOptions options, String key, Duration patience, Duration within) {
        Map<String, Object> body = new LinkedHashMap<>();
        String path = "/v1/leases:acquireAll";
        if (options.pools().size() == 1) {
            Map.Entry<String, Integer> only =
                    options.pools().entrySet().iterator().next();
            path = "/v1/pools/" + encoded(only.getKey()) + "/leases";
            body.put("permits", only.getValue());
        } else {
            body.put("pools", options.pools());
        }
        body.put("ttl", text(options.ttl()));
        body.put("maxWait", text(patience));
        body.put("holder", options.holder());
        return send(new Call("POST", path, key, body, patience, patience.plus(within)));
    }

    Mono<Answer> extend(String id, LeaseOptions options, Duration within) {
        return send(new Call("PUT", path(id), null, Map.of("ttl", text(options.ttl())), Duration.ZERO, within));
    }

    Mono<Answer> restore(String id, LeaseOptions options, @Nullable String receipt, Duration within) {
        Map<String, Object> body = new LinkedHashMap<>();
        body.put("pools", options.pools());
        if (receipt != null) {
            body.put("receipt", receipt);
        }
        body.put("ttl", text(options.ttl()));
        body.put("holder", options.holder());
        return send(new Call("POST", path(id) + "/restore", null, body, Duration.ZERO, within));
    }

    /** Completes when the lease is gone; errors with {@link LeaseException} when the server did not confirm that in time. */
    Mono<Void> release(String id) {
        return repeated(send(new Call("DELETE", path(id), null, null, Duration.ZERO, GIVE_BACK_TRY)))
                .flatMap(answer -> isGone(answer) ? Mono.empty() : Mono.error(LeaseException.refused(answer)))
                .then()
                .timeout(GIVE_BACK, time)
                .onErrorMap(LeaseCalls::isNoAnswer, LeaseException::unreachable);
    }

    /** Gives back what is open under a key, if anything is. It repeats the call that acquires, to learn the id. */
    Mono<Void> release(LeaseOptions options, String key) {
        return repeated(acquire(options, key, Duration.ZERO, GIVE_BACK_TRY))
                .mapNotNull(Answer::lease)
                .flatMap(lease -> release(lease.id()))
                .timeout(GIVE_BACK, time)
                .onErrorMap(LeaseCalls::isNoAnswer, LeaseException::unreachable);
    }

    private Mono<Answer> repeated(Mono<Answer> call) {
        return call.flatMap(
                        answer -> answer.isForNow() ? Mono.error(LeaseException.refused(answer)) : Mono.just(answer))
                .retryWhen(Retry.from(failures -> failures.concatMap(this::beforeAnotherTry)));
    }

    private Mono<Long> beforeAnotherTry(Retry.RetrySignal failed) {
        Throwable failure = failed.failure();
        boolean mayFareBetter = failure instanceof IOException || failure instanceof LeaseException;
        int failures = (int) failed.totalRetries() + 1;
        return mayFareBetter && failures < GIVE_BACK_TRIES
                ? pause(pauses.afterFailures(failures))
                : Mono.error(failure);
    }

    private Mono<Answer> send(Call call) {
        return Mono.defer(() -> transport.send(call))
                .timeout(call.within(), time)
                .onErrorMap(
                        TimeoutException.class,
                        late -> new IOException(
                                "no answer within " + call.within().toMillis() + "ms"))
                .switchIfEmpty(Mono.error(() -> new IOException("no answer")));
    }

    private static boolean isGone(Answer answer) {
        return answer.status() < 300 || answer.status() == 404;
    }

    private static boolean isNoAnswer(Throwable failure) {
        return failure instanceof IOException || failure instanceof TimeoutException;
    }

    private static String path(String id) {
        return "/v1/leases/" + id;
    }

    private static String encoded(String pool) {
        return URLEncoder.encode(pool, StandardCharsets.UTF_8).replace("+", "%20");
    }

    private static String text(Duration duration) {
        return duration.toMillis() + "ms";
    }
}
