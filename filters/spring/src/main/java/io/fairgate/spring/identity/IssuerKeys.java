package io.fairgate.spring.identity;

import com.nimbusds.jose.jwk.JWKSet;
import io.fairgate.policy.KeySetLocation;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * The keys of one issuer, kept in memory and fetched again by use: a request that finds them older than the refresh
 * time, less a jitter of up to a tenth, starts a fetch, and goes on with the old ones. So there is no timer, and
 * nothing to stop when no policy names the keys any more.
 *
 * <p>A request waits for a fetch in three cases only, each for at most {@link #LONGEST_WAIT}: when there are no keys
 * yet, when its token names a key that is not among them, and after a silence, which means that the last fetch began
 * more than twice the refresh time ago, whether it succeeded or not. A request whose token names a missing key may wait
 * twice, because it may first have to wait for one of the other reasons. Without the wait after a silence, the first
 * requests could still use a key that the issuer has withdrawn meanwhile. The silence ends with the fetch that it
 * starts: once that fetch is {@link #LONGEST_WAIT} old or has failed, the old keys answer at once, also while later
 * fetches fail. All requests that wait share one fetch. However many key ids are invented, no fetch begins sooner than
 * {@link #PAUSE} after the last one began, or {@link #PAUSE_WITHOUT_KEYS} if there were no keys then.
 *
 * <p>When a fetch fails, the old keys stay in use.
 */
final class IssuerKeys {

    static final Duration LONGEST_WAIT = Duration.ofSeconds(2);
    static final Duration PAUSE = Duration.ofSeconds(10);
    /** The pause after a fetch that began without any keys. */
    static final Duration PAUSE_WITHOUT_KEYS = Duration.ofSeconds(1);

    private static final Logger log = LoggerFactory.getLogger(IssuerKeys.class);

    private final KeySetLocation location;
    private final Function<KeySetLocation, Mono<JWKSet>> fetch;
    private final Consumer<Boolean> count;
    private final Scheduler time;

    private final AtomicReference<@Nullable Fetch> running = new AtomicReference<>();
    private volatile @Nullable Keys keys;
    private volatile @Nullable Attempt last;
    private volatile boolean failing;

    /** @param due when the keys are to be fetched again, in nanoseconds of the clock */
    private record Keys(JWKSet set, long due) {}

    /** When the last fetch began, and from when on the next one may begin, in nanoseconds of the clock. */
    private record Attempt(long began, long next) {}

    /**
     * A fetch that is running.
     *
     * @param serving from when on the old keys are used without waiting for it, in nanoseconds of the clock
     */
    private record Fetch(Sinks.Empty<Void> end, long serving) {}

    /**
     * Fetches nothing before the keys are first needed.
     *
     * @param fetch fetches the keys once, within a bounded time
     * @param count called after each fetch with whether it was successful
     */
    IssuerKeys(
            KeySetLocation location,
            Function<KeySetLocation, Mono<JWKSet>> fetch,
            Consumer<Boolean> count,
            Scheduler time) {
        this.location = location;
        this.fetch = fetch;
        this.count = count;
        this.time = time;
    }

    /**
     * The keys; empty when there are none.
     *
     * @param home where requests that had to wait go on; null for the thread that ends the wait
     */
    Mono<JWKSet> all(@Nullable Executor home) {
        return Mono.defer(() -> {
            Keys now = keys;
            if (now == null) {
                return afterFetch(LONGEST_WAIT, home);
            }
            if (now() - now.due() < 0) {
                return Mono.just(now.set());
            }
            Mono<Void> unused = fetched();
            Fetch fetch = running.get();
            long wait = fetch == null ? 0 : fetch.serving() - now();
            return wait > 0 ? afterFetch(Duration.ofNanos(wait), home) : Mono.fromSupplier(this::set);
        });
    }

    /** The keys, fetched again first when this one is missing and a fetch may begin or is running. */
    Mono<JWKSet> with(String keyId, @Nullable Executor home) {
        return all(home)
                .flatMap(set -> set.getKeyByKeyId(keyId) != null || !mayFetch()
                        ? Mono.just(set)
                        : afterFetch(LONGEST_WAIT, home));
    }

    private Mono<JWKSet> afterFetch(Duration longest, @Nullable Executor home) {
        Mono<Void> ended = fetched().timeout(longest, Mono.empty(), time);
        return (home == null ? ended : ended.publishOn(Schedulers.fromExecutor(home)))
                .then(Mono.fromSupplier(this::set));
    }

    private @Nullable JWKSet set() {
        Keys now = keys;
        return now == null ? null : now.set();
    }

    private boolean mayFetch() {
        Attempt before = last;
        return running.get() != null || before == null || now() - before.next() >= 0;
    }

    /**
     * Completes with the fetch that is running, or with one that begins now; at once when it is too early for one.
     * Never errors.
     */
    private Mono<Void> fetched() {
        Fetch others = running.get();
        if (others != null) {
            return others.end().asMono();
        }
        long now = now();
        Attempt before = last;
        boolean silence =
                before != null && now - before.began() > 2 * location.refresh().toNanos();
        Fetch own = new Fetch(Sinks.empty(), silence ? now + LONGEST_WAIT.toNanos() : now);
        if (!mayFetch() || !running.compareAndSet(null, own)) {
            Fetch winner = running.get();
            return winner == null ? Mono.empty() : winner.end().asMono();
        }
        last = new Attempt(now, now + (keys == null ? PAUSE_WITHOUT_KEYS : PAUSE).toNanos());
        var unused = fetch.apply(location).subscribe(this::succeeded, this::failed, () -> ended(own));
        return own.end().asMono();
    }

    private void succeeded(JWKSet set) {
        long refresh = location.refresh().toNanos();
        // So that several gateways that started together do not fetch together for ever.
        long jitter = ThreadLocalRandom.current().nextLong(refresh / 10);
        boolean first = keys == null;
        keys = new Keys(set, now() + refresh - jitter);
        count.accept(true);
        if (first || failing) {
            log.info("Keys of {}: {}", location.location(), set.size());
        }
        failing = false;
    }

    private void failed(Throwable failure) {
        count.accept(false);
        if (!failing) {
            failing = true;
            log.warn(
                    "The keys of {} cannot be fetched: {}; {}.",
                    location.location(),
                    failure.toString(),
                    keys == null ? "tokens that need them are refused" : "the old ones stay in use");
        }
        Fetch fetch = running.get();
        if (fetch != null) {
            ended(fetch);
        }
    }

    private void ended(Fetch fetch) {
        running.set(null);
        fetch.end().tryEmitEmpty();
    }

    private long now() {
        return time.now(TimeUnit.NANOSECONDS);
    }
}
