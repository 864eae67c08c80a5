package io.fairgate.spring.fairshare;

import io.fairgate.spring.policy.LivePolicy;

import io.fairgate.fairness.PoolTotals;
import io.fairgate.fairness.TenantShares;
import io.fairgate.permit.embedded.EmbeddedPermitPool;
import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PoolListener;
import io.fairgate.permit.PoolSettings;
import io.fairgate.policy.Policy;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/**
 * The pools of the policy, by name. They stay the same through every change of the policy, so that whoever holds a
 * permit of one or waits in it is counted on.
 *
 * <p>A pool that the policy no longer names is kept for as long as anybody is in it: if it is named again meanwhile, a
 * pool that begins empty would give out permits that are still held.
 */
public final class PermitPools implements LivePolicy.Follower {

    private static final Logger log = LoggerFactory.getLogger(PermitPools.class);

    /** Long enough for a request that was matched to a route of the old policy to have come to its pool. */
    private static final Duration KEPT_AT_LEAST = Duration.ofSeconds(10);

    /** Who wants to know of the pools. */
    public interface Watch {
        /** Hears what becomes of the requests of one pool. */
        PoolListener listenTo(String pool);

        /** The policy names it no more, and nobody is in it any more. */
        void gone(String pool);
    }

    private final Scheduler time;
    private final Watch watch;
    /** Those of the policy, those that are being prepared, and those that are no longer named but not empty yet. */
    private final Map<String, EmbeddedPermitPool> pools = new ConcurrentSkipListMap<>();

    /** When those that are no longer named are looked at again. Guarded by this. */
    private final Map<String, Disposable> leaving = new HashMap<>();

    /** The policy that routes have to fit to: the one in force, or the next one while that is prepared. */
    private volatile Policy expected;

    private volatile Policy current;

    /** Makes an embedded pool for each pool of the policy. */
    public PermitPools(Policy policy, Scheduler time, Watch watch) {
        this.time = time;
        this.watch = watch;
        this.current = policy;
        this.expected = policy;
        prepare(policy);
    }

    /** Those that the policy names, and those that it names no more and that are not empty yet. */
    public Collection<PermitPool> all() {
        return List.copyOf(pools.values());
    }

    /** The pool of this name, also when the policy does not name it any more and somebody is in it still. */
    public @Nullable PermitPool get(String name) {
        return pools.get(name);
    }

    /** How a pool that there is, is set now; the last settings of one that the policy does not name any more. */
    PoolSettings settings(String name) {
        return Objects.requireNonNull(pools.get(name), name).settings();
    }

    /** What a route may ask of this pool; null when a route may not name it. */
    @Nullable
    PoolSettings settingsForRoutes(String name) {
        return expected.pools().get(name);
    }

    Set<String> namesForRoutes() {
        return expected.pools().keySet();
    }

    /** The classes of requests that routes may name. */
    Set<String> classesForRoutes() {
        return expected.classes().keySet();
    }

    // ---- when the policy changes ----

    @Override
    public synchronized void prepare(Policy next) {
        expected = next;
        TenantShares shares = next.shares();
        next.pools().forEach((name, settings) -> {
            stay(name);
            pools.computeIfAbsent(name, n -> new EmbeddedPermitPool(n, settings, shares, time, watch.listenTo(n)));
        });
    }

    @Override
    public synchronized void giveUp() {
        Policy refused = expected;
        expected = current;
        leaveUnlessNamed(refused);
    }

    @Override
    public synchronized void follow(Policy next) {
        Policy before = current;
        TenantShares shares = next.shares();
        next.pools().forEach((name, settings) -> {
            EmbeddedPermitPool pool = pools.get(name);
            if (pool != null) {
                pool.reconfigure(settings, shares);
            }
        });
        current = next;
        leaveUnlessNamed(before);
    }

    private void leaveUnlessNamed(Policy before) {
        for (String name : before.pools().keySet()) {
            EmbeddedPermitPool pool = pools.get(name);
            if (pool != null && !current.pools().containsKey(name)) {
                goWhenEmpty(pool);
            }
        }
    }

    private void stay(String name) {
        Disposable look = leaving.remove(name);
        if (look != null) {
            look.dispose();
        }
    }

    /** Its last settings and shares hold until then. */
    private void goWhenEmpty(EmbeddedPermitPool pool) {
        stay(pool.name());
        leaving.put(
                pool.name(),
                time.schedule(
                        () -> {
                            var unused = pool.totals().subscribe(totals -> goIfEmpty(pool, totals));
                        },
                        KEPT_AT_LEAST.toNanos(),
                        TimeUnit.NANOSECONDS));
    }

    private synchronized void goIfEmpty(EmbeddedPermitPool pool, PoolTotals totals) {
        if (!leaving.containsKey(pool.name())) {
            return; // named again in the meantime
        }
        if (totals.inFlight() + totals.waiting() > 0) {
            goWhenEmpty(pool);
            return;
        }
        leaving.remove(pool.name());
        pools.remove(pool.name());
        // Who comes all the same must not take from it what another pool of this name gives as well.
        var unused = pool.close(Duration.ZERO).subscribe();
        watch.gone(pool.name());
        log.info("Pool {} is empty and gone: the policy does not name it any more.", pool.name());
    }

    // ---- all of them ----

    /** How all of them stand together. */
    public record Standing(int inFlight, int waiting) {}

    public Mono<Standing> standing() {
        return Flux.fromIterable(pools.values())
                .concatMap(PermitPool::totals)
                .reduce(
                        new Standing(0, 0),
                        (sum, pool) -> new Standing(sum.inFlight() + pool.inFlight(), sum.waiting() + pool.waiting()));
    }

    /** Closes all of them; see {@link PermitPool#close}. */
    public Mono<Void> close(Duration patience) {
        Collection<PermitPool> all = all();
        return Flux.fromIterable(all)
                .flatMap(pool -> pool.close(patience), Math.max(1, all.size()))
                .then();
    }
}
