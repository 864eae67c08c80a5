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
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.util.retry.Retry;

/**
 * The calls of the lease API. Each is sent once subscribed, and errors with {@link IOException} when no response came in time.
 * All of them may be repeated.
 */
final class LeaseApi {

    /** The time that a response may take, in addition to the time that the server may wait. */
    static final Duration TIMEOUT = Duration.ofSeconds(5);

    /** The bound for all attempts of a release. What was not released by then expires. */
    static final Duration RELEASE_WITHIN = Duration.ofSeconds(5);

    private static final Duration RELEASE_TIMEOUT = Duration.ofSeconds(2);
    private static final int RELEASE_ATTEMPTS = 5;

    private static final long FIRST_BACKOFF_NANOS = Duration.ofMillis(100).toNanos();
    private static final int DOUBLINGS = 4;
    private static final double JITTER = 0.25;

    private final Transport transport;
    private final DoubleSupplier chance;
    final Scheduler time;

    /**
     * Drawn once: system randomness is read from a file, and keys are made on threads that must not block. It need not be
     * secret, because each tenant has keys of its own.
     */
    private final String keyPrefix = UUID.randomUUID() + "-";

    private final AtomicLong keys = new AtomicLong();

    /** @param chance returns 0 to 1; called on any thread */
    LeaseApi(Transport transport, Scheduler time, DoubleSupplier chance) {
        this.transport = transport;
        this.time = time;
        this.chance = chance;
    }

    long now() {
        return time.now(TimeUnit.NANOSECONDS);
    }

    Mono<Long> pause(long nanos) {
        return nanos <= 0 ? Mono.just(0L) : Mono.delay(Duration.ofNanos(nanos), time);
    }

    /** The pause before another attempt: 100 ms after the first failure, doubled after each further one, up to 1.6 s. */
    long backoffNanos(int failures) {
        return jittered(FIRST_BACKOFF_NANOS << Math.min(DOUBLINGS, failures - 1));
    }

    /** Adds a random part of up to a quarter, so that clients that were refused together do not return together. */
    long jittered(long nanos) {
        return nanos + (long) (nanos * JITTER * chance.getAsDouble());
    }

    /** A key that no other acquisition has, in this program or in another. */
    String newKey() {
        return keyPrefix + keys.incrementAndGet();
    }

    Mono<ApiResponse> acquire(LeaseOptions options, String key, Duration maxWait, Duration timeout) {
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
        body.put("maxWait", text(maxWait));
        body.put("holder", options.holder());
        return send(new ApiRequest("POST", path, key, body, maxWait.toMillis() > 0, maxWait.plus(timeout)));
    }

    Mono<ApiResponse> extend(String id, LeaseOptions options, Duration timeout) {
        return send(new ApiRequest("PUT", path(id), null, Map.of("ttl", text(options.ttl())), false, timeout));
    }

    Mono<ApiResponse> restore(String id, LeaseOptions options, @Nullable String receipt, Duration timeout) {
        Map<String, Object> body = new LinkedHashMap<>();
        body.put("pools", options.pools());
        if (receipt != null) {
            body.put("receipt", receipt);
        }
        body.put("ttl", text(options.ttl()));
        body.put("holder", options.holder());
        return send(new ApiRequest("POST", path(id) + "/restore", null, body, false, timeout));
    }

    /** Completes when the lease is gone; errors with {@link LeaseException} when the server did not confirm that in time. */
    Mono<Void> release(String id) {
        return repeated(send(new ApiRequest("DELETE", path(id), null, null, false, RELEASE_TIMEOUT)))
                .flatMap(response -> response.status() < 300 || response.status() == 404
                        ? Mono.<Void>empty()
                        : Mono.error(LeaseException.refused(response)))
                .timeout(RELEASE_WITHIN, time)
                .onErrorMap(LeaseApi::isUnreachable, LeaseException::unreachable);
    }

    /** Releases what is open under a key, if anything is. It repeats the call that acquires, to learn the id. */
    Mono<Void> release(LeaseOptions options, String key) {
        return repeated(acquire(options, key, Duration.ZERO, RELEASE_TIMEOUT))
                .mapNotNull(ApiResponse::lease)
                .flatMap(lease -> release(lease.id()))
                .timeout(RELEASE_WITHIN, time)
                .onErrorMap(LeaseApi::isUnreachable, LeaseException::unreachable);
    }

    private Mono<ApiResponse> repeated(Mono<ApiResponse> call) {
        return call.flatMap(response ->
                        response.isTemporary() ? Mono.error(LeaseException.refused(response)) : Mono.just(response))
                .retryWhen(Retry.from(failures -> failures.concatMap(this::beforeAnotherAttempt)));
    }

    private Mono<Long> beforeAnotherAttempt(Retry.RetrySignal failed) {
        Throwable failure = failed.failure();
        boolean maySucceed = failure instanceof IOException || failure instanceof LeaseException;
        int failures = (int) failed.totalRetries() + 1;
        return maySucceed && failures < RELEASE_ATTEMPTS ? pause(backoffNanos(failures)) : Mono.error(failure);
    }

    private Mono<ApiResponse> send(ApiRequest request) {
        return Mono.defer(() -> transport.send(request))
                .timeout(request.timeout(), time)
                .onErrorMap(
                        TimeoutException.class,
                        late -> new IOException("no response within %dms"
                                .formatted(request.timeout().toMillis())))
                .switchIfEmpty(Mono.error(() -> new IOException("no response")));
    }

    private static boolean isUnreachable(Throwable failure) {
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
