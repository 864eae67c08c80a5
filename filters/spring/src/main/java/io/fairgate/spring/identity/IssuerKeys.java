package io.fairgate.spring.identity;

import com.nimbusds.jose.jwk.JWKSet;
import io.fairgate.policy.KeySetLocation;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Scannable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * The keys of one issuer, kept in memory and fetched again by use: a request that finds them older than the refresh
 * time starts a fetch, and goes on with the old ones, also when it fails. So there is no timer, and nothing to stop
 * when no policy names the keys any more.
 *
 * <p>A request waits for a fetch in three cases only, each for at most {@link #LONGEST_WAIT}: when there are no keys
 * yet, when its token names a key that is not among them, and after a silence, which means that the last fetch began
 * more than twice the refresh time ago, whether it succeeded or not: the issuer may have withdrawn a key meanwhile. The
 * silence ends with the fetch that it starts: once that is {@link #LONGEST_WAIT} old or has failed, the old keys answer
 * at once. All requests that wait share one fetch, and however many key ids are invented, no fetch begins too soon.
 */
final class IssuerKeys {

    static final Duration LONGEST_WAIT = Duration.ofSeconds(2);
    /** From the begin of one fetch to that of the next. */
    static final Duration PAUSE = Duration.ofSeconds(10);
    /** The same after a fetch that began without any keys. */
    static final Duration PAUSE_WITHOUT_KEYS = Duration.ofSeconds(1);

    private static final Logger log = LoggerFactory.getLogger(IssuerKeys.class);

    private final KeySetLocation location;
    private final Mono<JWKSet> fetch;
    private final Consumer<Boolean> count;
    private final Scheduler time;

    private final AtomicReference<@Nullable Fetch> last = new AtomicReference<>();
    private volatile @Nullable Keys keys;
    private volatile boolean failing;

    /** @param due when the keys are to be fetched again, in nanoseconds of the clock */
    private record Keys(JWKSet set, long due) {}

    /**
     * @param next from when on the next fetch may begin
     * @param serving from when on the old keys are used without waiting for this fetch
     */
    private record Fetch(long began, long next, long serving, Sinks.Empty<Void> end) {

        boolean isRunning() {
            return !end.scanOrDefault(Scannable.Attr.TERMINATED, false);
        }
    }

    /**
     * @param fetch fetches the keys once, within a bounded time
     * @param count called after each fetch with whether it was successful
     */
    IssuerKeys(KeySetLocation location, Mono<JWKSet> fetch, Consumer<Boolean> count, Scheduler time) {
        this.location = location;
        this.fetch = fetch;
        this.count = count;
        this.time = time;
    }

    /** The keys; empty when none could be fetched in time. Requests that had to wait go on on their event loop, if they have one. */
    Mono<JWKSet> all(@Nullable Executor eventLoop) {
        return Mono.defer(() -> {
            Keys now = keys;
            if (now != null && now() - now.due() < 0) {
                return Mono.just(now.set());
            }
            Fetch latest = latest();
            return after(latest, now == null ? LONGEST_WAIT : Duration.ofNanos(latest.serving() - now()), eventLoop);
        });
    }

    /** The keys, fetched again first when this one is missing and a fetch may begin or is running. */
    Mono<JWKSet> with(String keyId, @Nullable Executor eventLoop) {
        return all(eventLoop)
                .flatMap(set ->
                        set.getKeyByKeyId(keyId) != null ? Mono.just(set) : after(latest(), LONGEST_WAIT, eventLoop));
    }

    /** The keys that are there when the fetch has ended or the wait is over. */
    private Mono<JWKSet> after(Fetch latest, Duration longest, @Nullable Executor eventLoop) {
        Mono<JWKSet> set = Mono.fromSupplier(this::set);
        if (!latest.isRunning() || longest.toNanos() <= 0) {
            return set;
        }
        Mono<Void> ended = latest.end().asMono().timeout(longest, Mono.empty(), time);
        return (eventLoop == null ? ended : ended.publishOn(Schedulers.fromExecutor(eventLoop))).then(set);
    }

    private @Nullable JWKSet set() {
        Keys now = keys;
        return now == null ? null : now.set();
    }

    /** The last fetch, or a new one if none is running and it is not too early for one. */
    private Fetch latest() {
        Fetch before = last.get();
        long now = now();
        if (before != null && (before.isRunning() || now - before.next() < 0)) {
            return before;
        }
        boolean silence =
                before != null && now - before.began() > 2 * location.refresh().toNanos();
        long next = now + (keys == null ? PAUSE_WITHOUT_KEYS : PAUSE).toNanos();
        Fetch own = new Fetch(now, next, silence ? now + LONGEST_WAIT.toNanos() : now, Sinks.empty());
        if (!last.compareAndSet(before, own)) {
            return Objects.requireNonNull(last.get());
        }
        var unused = fetch.doFinally(end -> own.end().tryEmitEmpty()).subscribe(this::succeeded, this::failed);
        return own;
    }

    private void succeeded(JWKSet set) {
        long refresh = location.refresh().toNanos();
        // So that several gateways that started together do not fetch together for ever.
        long jitter = ThreadLocalRandom.current().nextLong(refresh / 10);
        boolean first = keys == null;
        keys = new Keys(set, now() + refresh - jitter);
        count.accept(true);
        if (first || failing) {
            log.info("Keys of {}: {}", location.name(), set.size());
        }
        failing = false;
    }

    private void failed(Throwable failure) {
        count.accept(false);
        if (!failing) {
            failing = true;
            log.warn(
                    "The keys of {} cannot be fetched: {}; {}.",
                    location.name(),
                    failure.toString(),
                    keys == null ? "tokens that need them are refused" : "the old ones stay in use");
        }
    }

    private long now() {
        return time.now(TimeUnit.NANOSECONDS);
    }
}
