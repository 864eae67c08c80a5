package io.fairgate.spring.fairshare;

import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PoolFactory;
import io.fairgate.permit.PoolListener;
import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.PoolUnavailableException;
import io.fairgate.policy.Policy;
import io.fairgate.shares.TenantShares;
import io.fairgate.spring.policy.PolicyParticipant;
import io.fairgate.status.PoolTotals;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
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
 * The pools of the policy, by name. A pool stays the same object through every change of the policy, so that requests
 * that hold its permits or wait in it stay counted. One that the policy no longer names is kept until it is empty: if
 * it were named again before that, a new and empty pool would grant permits that are still held.
 */
public final class PermitPools implements PolicyParticipant {

    private static final Logger log = LoggerFactory.getLogger(PermitPools.class);

    /** Long enough for a request that matched a route of the old policy to reach its pool. */
    private static final Duration KEPT_AT_LEAST = Duration.ofSeconds(10);

    /** Observes the pools. */
    public interface Watch {
        /** Creates the listener for the requests of one pool. */
        PoolListener listenTo(String pool);

        /** The settings or the shares of the pool change now. */
        default void reconfigured(String pool) {}

        /** The policy no longer names the pool, and no request holds its permits or waits in it. */
        void gone(String pool);
    }

    private final PoolFactory factory;
    private final Scheduler time;
    private final Watch watch;
    private final PoolsPerInstance instances;
    /** Also those that are being prepared, and those that the policy no longer names but that are not empty yet. */
    private final Map<String, PermitPool> pools = new ConcurrentSkipListMap<>();

    private final Map<String, Integer> withoutClient = new ConcurrentHashMap<>();

    /** The next check of each pool that the policy no longer names. Guarded by this. */
    private final Map<String, Disposable> leaving = new HashMap<>();

    /** See {@link #policyForRoutes}. */
    private volatile Policy expected;

    private volatile Policy current;

    /** Of the current policy. Guarded by this. */
    private TenantShares currentShares;

    /** Makes each pool of the policy. */
    public PermitPools(Policy policy, PoolFactory factory, Scheduler time, Watch watch, PoolsPerInstance instances) {
        this.factory = factory;
        this.time = time;
        this.watch = watch;
        this.instances = instances;
        this.current = policy;
        this.currentShares = policy.shares();
        prepare(policy);
        instances.whenChanged(this::resize);
    }

    /** The pools that the policy names, and those that it no longer names but that are not empty yet. */
    public Collection<PermitPool> all() {
        return List.copyOf(pools.values());
    }

    /** The pool of this name, from the same pools; null when no pool has it. */
    public @Nullable PermitPool get(String name) {
        return pools.get(name);
    }

    /** The settings that the pool would have under another policy, with the instances of now; null when that does not name it. */
    public @Nullable PoolSettings settingsUnder(Policy policy, String pool) {
        PoolSettings settings = policy.pools().get(pool);
        return settings == null ? null : sized(pool, settings, policy);
    }

    /** The permits that are held for an upstream at work, or a closing connection, without a client any more. */
    public int withoutClient(String pool) {
        return withoutClient.getOrDefault(pool, 0);
    }

    /** Counts permits as {@link #withoutClient} until the request has quiesced. */
    Mono<Void> countWithoutClient(String pool, int permits, Mono<Void> quiesced) {
        return quiesced.doOnSubscribe(begun -> withoutClient.merge(pool, permits, Integer::sum))
                .doFinally(end ->
                        withoutClient.computeIfPresent(pool, (name, all) -> all == permits ? null : all - permits));
    }

    /** The policy that routes must fit: the one in force, or the next one while that is prepared. */
    Policy policyForRoutes() {
        return expected;
    }

    // ---- when the policy changes ----

    @Override
    public Order order() {
        return Order.POOLS;
    }

    @Override
    public synchronized void prepare(Policy next) {
        expected = next;
        TenantShares shares = next.shares();
        next.pools().forEach((name, settings) -> {
            stay(name);
            pools.computeIfAbsent(name, n -> factory.newPool(n, sized(n, settings, next), shares, watch.listenTo(n)));
        });
    }

    @Override
    public synchronized void rollBack() {
        Policy refused = expected;
        expected = current;
        leaveUnlessNamed(refused);
    }

    @Override
    public synchronized void commit(Policy next) {
        Policy before = current;
        currentShares = next.shares();
        boolean haveOtherShares = haveOtherShares(before, next);
        next.pools().forEach((name, settings) -> {
            PermitPool pool = pools.get(name);
            PoolSettings sized = sized(name, settings, next);
            if (haveOtherShares || (pool != null && !sized.equals(pool.settings()))) {
                watch.reconfigured(name);
            }
            reconfigure(name, sized, currentShares);
        });
        current = next;
        leaveUnlessNamed(before);
    }

    private static boolean haveOtherShares(Policy before, Policy next) {
        return !before.members().equals(next.members())
                || !Objects.equals(before.unknown(), next.unknown())
                || !before.groups().equals(next.groups())
                || !before.classes().equals(next.classes());
    }

    private void reconfigure(String name, PoolSettings settings, TenantShares shares) {
        PermitPool pool = pools.get(name);
        if (pool != null) {
            var unused = pool.reconfigure(settings, shares)
                    .subscribe(done -> {}, failure -> log.error("Pool {} keeps its former settings.", name, failure));
        }
    }

    /** The sizes of pools with permits for each instance of the upstream may have changed. */
    private synchronized void resize(String upstream) {
        Policy policy = current;
        policy.poolsPerInstance().forEach((name, of) -> {
            PoolSettings settings = policy.pools().get(name);
            PermitPool pool = pools.get(name);
            if (of.equals(upstream) && settings != null && pool != null) {
                PoolSettings sized = sized(name, settings, policy);
                if (sized.permits() != pool.settings().permits()) {
                    watch.reconfigured(name);
                    log.debug("Pool {} has {} permits now.", name, sized.permits());
                    reconfigure(name, sized, currentShares);
                }
            }
        });
    }

    /** Of a pool whose permits are those of one instance, with the permits that it has now. */
    private PoolSettings sized(String name, PoolSettings settings, Policy policy) {
        String upstream = policy.poolsPerInstance().get(name);
        return upstream == null
                ? settings
                : settings.withPermits(
                        (int) Math.min(PoolSettings.MAX_PERMITS, instances.size(upstream, name, settings.permits())));
    }

    private void leaveUnlessNamed(Policy before) {
        for (String name : before.pools().keySet()) {
            PermitPool pool = pools.get(name);
            if (pool != null && !current.pools().containsKey(name)) {
                goWhenEmpty(pool);
            }
        }
    }

    private void stay(String name) {
        Disposable check = leaving.remove(name);
        if (check != null) {
            check.dispose();
        }
    }

    /** Removes the pool when it is empty. Until then its last settings and shares apply. */
    private void goWhenEmpty(PermitPool pool) {
        stay(pool.name());
        leaving.put(
                pool.name(),
                time.schedule(
                        () -> {
                            var unused = pool.totals()
                                    .map(totals -> totals.inFlight() + totals.waiting() == 0)
                                    .onErrorReturn(false)
                                    .subscribe(isEmpty -> goIfEmpty(pool, isEmpty));
                        },
                        KEPT_AT_LEAST.toNanos(),
                        TimeUnit.NANOSECONDS));
    }

    private synchronized void goIfEmpty(PermitPool pool, boolean isEmpty) {
        if (!leaving.containsKey(pool.name())) {
            return; // named again in the meantime
        }
        if (!isEmpty) {
            goWhenEmpty(pool);
            return;
        }
        leaving.remove(pool.name());
        pools.remove(pool.name());
        // A late request must not take permits here that a new pool of this name grants as well.
        var unused = closed(pool, Duration.ZERO).subscribe();
        watch.gone(pool.name());
        log.info("Pool {} is removed: the policy no longer names it, and it is empty.", pool.name());
    }

    /** The sums over all pools whose backend can be reached. */
    public Mono<PoolTotals> totals() {
        return Flux.fromIterable(pools.values())
                .concatMap(pool -> pool.totals().onErrorComplete(PoolUnavailableException.class))
                .reduce((a, b) -> new PoolTotals(
                        a.permits() + b.permits(), a.inFlight() + b.inFlight(), a.waiting() + b.waiting()))
                .defaultIfEmpty(new PoolTotals(0, 0, 0));
    }

    /** Closes all pools; see {@link PermitPool#close}. Does not wait for pools whose backend cannot be reached. */
    public Mono<Void> close(Duration patience) {
        Collection<PermitPool> all = all();
        return Flux.fromIterable(all)
                .flatMap(pool -> closed(pool, patience), Math.max(1, all.size()))
                .then();
    }

    private static Mono<Void> closed(PermitPool pool, Duration patience) {
        return pool.close(patience).onErrorComplete(PoolUnavailableException.class);
    }
}
