package io.fairgate.spring.explain;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.DisposableBean;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/** Adds the state of all pools to the {@link UsageHistory}, once a second and for each explanation. */
public final class UsageSampler implements DisposableBean {

    private static final Logger log = LoggerFactory.getLogger(UsageSampler.class);
    private static final Duration EVERY = Duration.ofSeconds(1);

    private final UsageHistory history;
    private final PoolUses pools;
    private final Scheduler time;
    private final Disposable sampling;
    private volatile boolean hasFailed;

    /**
     * @param time a monotonic clock, and the timer
     * @param work where the states are read and summed up, which takes some milliseconds where there are thousands of tenants
     */
    public UsageSampler(UsageHistory history, PoolUses pools, Scheduler time, Scheduler work) {
        this.history = history;
        this.pools = pools;
        this.time = time;
        this.sampling = Flux.interval(Duration.ZERO, EVERY, time)
                .onBackpressureDrop()
                .concatMap(tick -> sample().subscribeOn(work), 1)
                .subscribe();
    }

    /** Adds the state of now. An error, or a state that takes too long, leaves a gap, and is logged once. */
    private Mono<Void> sample() {
        return Mono.defer(pools::now)
                .doOnNext(all -> {
                    history.add(now(), all);
                    hasFailed = false;
                })
                .timeout(EVERY, time)
                .onErrorResume(failure -> {
                    if (!hasFailed) {
                        log.warn(
                                "The state of the pools cannot be read; decisions of this time are not explained.",
                                failure);
                    }
                    hasFailed = true;
                    return Mono.empty();
                })
                .then();
    }

    /** Adds a state that is new enough for all that has happened until now. */
    Mono<Void> sampleSoon() {
        // A state that comes too soon after another one is ignored.
        return Mono.delay(UsageHistory.SHORTEST, time).then(Mono.defer(this::sample));
    }

    private long now() {
        return time.now(TimeUnit.NANOSECONDS);
    }

    @Override
    public void destroy() {
        sampling.dispose();
    }
}
