package io.fairgate.spring.explain;

import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.TimeUnit;
import org.springframework.beans.factory.DisposableBean;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/** Adds the state of all pools to the {@link UsageHistory}, once a second and before each explanation. */
public final class UsageSampler implements DisposableBean {

    private static final long EVERY_NANOS = Duration.ofSeconds(1).toNanos();

    private final UsageHistory history;
    private final PoolUses pools;
    private final InstantSource clock;
    private final Disposable timer;

    public UsageSampler(UsageHistory history, PoolUses pools, InstantSource clock, Scheduler time) {
        this.history = history;
        this.pools = pools;
        this.clock = clock;
        this.timer = time.schedulePeriodically(
                () -> {
                    var unused = sample().subscribe();
                },
                0,
                EVERY_NANOS,
                TimeUnit.NANOSECONDS);
    }

    /** Adds the state of now. */
    public Mono<Void> sample() {
        return pools.now().doOnNext(all -> history.add(clock.instant(), all)).then();
    }

    @Override
    public void destroy() {
        timer.dispose();
    }
}
