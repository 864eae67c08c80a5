package io.fairgate.redis.slice;

import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PoolListener;
import io.fairgate.permit.PoolSettings;
import io.fairgate.shares.TenantShares;
import java.io.IOException;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/** Pools of several gateways, with the model of the ledger in the place of Redis, and a network without delay. */
public final class NearPools {

    /** Until the recovery of a new ledger is over. */
    public static final Duration AFTER_RECOVERY = SliceTerm.USUAL.ttl().multipliedBy(2);

    private final Scheduler time;
    private final Map<String, NearLedger> ledgers = new HashMap<>();
    private final Map<PermitPool, CutLedger> cuts = new HashMap<>();
    private int names;

    public NearPools(Scheduler time) {
        this.time = time;
    }

    /** A pool of one more gateway. */
    public RedisPermitPool newPool(String name, PoolSettings settings) {
        NearLedger ledger = ledgers.computeIfAbsent(name, first -> new NearLedger(time, Duration.ZERO));
        CutLedger own = new CutLedger(ledger);
        RedisPermitPool pool = new RedisPermitPool(
                name,
                settings,
                TenantShares.EQUAL,
                PoolListener.NONE,
                own,
                SliceTerm.USUAL,
                OutagePolicy.FAIL_CLOSED,
                () -> "node-" + names++,
                time,
                time);
        cuts.put(pool, own);
        return pool;
    }

    /** Whether calls of these pools get lost. */
    public void cut(Collection<? extends PermitPool> pools, boolean isCut) {
        pools.forEach(pool -> Objects.requireNonNull(cuts.get(pool)).isCut = isCut);
    }

    /** The ledger as one gateway reaches it. */
    private static final class CutLedger implements SliceLedger {
        private final SliceLedger ledger;
        boolean isCut;

        CutLedger(SliceLedger ledger) {
            this.ledger = ledger;
        }

        private <T> Mono<T> uncut(Mono<T> call) {
            return Mono.defer(() -> isCut ? Mono.error(new IOException("connection reset")) : call)
                    .filter(answer -> !isCut)
                    .switchIfEmpty(
                            Mono.defer(() -> isCut ? Mono.error(new IOException("connection reset")) : Mono.empty()));
        }

        @Override
        public Mono<SliceAnswer> heartbeat(Heartbeat beat) {
            return uncut(ledger.heartbeat(beat));
        }

        @Override
        public Mono<Boolean> extend(String lease, long ttlMillis) {
            return uncut(ledger.extend(lease, ttlMillis));
        }

        @Override
        public Mono<Void> release(String lease) {
            return uncut(ledger.release(lease));
        }

        @Override
        public Mono<Void> callNodes() {
            return ledger.callNodes();
        }

        @Override
        public Disposable onCall(Runnable listener) {
            return ledger.onCall(listener);
        }

        @Override
        public Disposable onFreePermits(Runnable listener) {
            return ledger.onFreePermits(listener);
        }
    }

    public void lost(boolean isLost) {
        ledgers.values().forEach(ledger -> ledger.isLost = isLost);
    }

    /** How long calls to the ledger of a pool, and their answers, are on their way. */
    public void delay(String pool, Duration oneWay) {
        Objects.requireNonNull(ledgers.get(pool)).oneWay = oneWay;
    }

    /** The server of the ledgers has lost all that it had. */
    public void flush(String otherServer) {
        ledgers.values().forEach(ledger -> {
            ledger.state = new LedgerState();
            ledger.server = otherServer;
        });
    }

    /** The names of the leases in the ledger. */
    public Set<String> leases(String pool) {
        NearLedger ledger = ledgers.get(pool);
        return ledger == null ? Set.of() : Set.copyOf(ledger.state.leases.keySet());
    }

    /** The permits that all slices and leases have. */
    public int used(String pool) {
        NearLedger ledger = ledgers.get(pool);
        return ledger == null ? 0 : ledger.state.used();
    }

    /** The permits of leases. */
    public int leased(String pool) {
        NearLedger ledger = ledgers.get(pool);
        return ledger == null
                ? 0
                : ledger.state.leases.values().stream()
                        .mapToInt(LedgerState.Lease::permits)
                        .sum();
    }
}
