package io.fairgate.replay;

import io.fairgate.permit.HeldPermits;
import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.embedded.EmbeddedPermitPool;
import io.fairgate.replay.Recording.Recorded;
import io.fairgate.replay.WhatIf.Rules;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;

/** Clients of a pool in virtual time. Times are in milliseconds. */
final class Traffic {

    private final Duration length;
    private final List<Load> loads = new ArrayList<>();

    /** Draws a time in nanoseconds. */
    interface Draw extends ToLongFunction<Random> {

        static Draw millis(double value) {
            return random -> (long) (value * 1e6);
        }

        static Draw exponential(double mean) {
            return random -> (long) (-Math.log(1 - random.nextDouble()) * mean * 1e6);
        }

        static Draw between(double least, double most) {
            return random -> (long) ((least + (most - least) * random.nextDouble()) * 1e6);
        }

        /** {@code other} in that part of the cases. */
        default Draw or(double part, Draw other) {
            return random -> random.nextDouble() < part ? other.applyAsLong(random) : applyAsLong(random);
        }
    }

    /**
     * @param clients that send one request after the other; 0 for requests that come by themselves
     * @param pause between an answer and the next request, or between two requests that come by themselves
     * @param patience how long a client waits; null for as long as the pool lets it
     */
    private record Load(
            TenantId tenant,
            int clients,
            Draw pause,
            Draw hold,
            double from,
            double until,
            @Nullable Draw patience) {}

    Traffic(Duration length) {
        this.length = length;
    }

    /** Clients that wait for each answer. */
    Traffic clients(String tenant, int clients, Draw pause, Draw hold) {
        return clients(tenant, clients, pause, hold, 0, length.toNanos() / 1e6);
    }

    Traffic clients(String tenant, int clients, Draw pause, Draw hold, double from, double until) {
        loads.add(new Load(TenantId.of(tenant), clients, pause, hold, from, until, null));
        return this;
    }

    Traffic impatient(String tenant, int clients, Draw pause, Draw hold, Draw patience) {
        loads.add(new Load(TenantId.of(tenant), clients, pause, hold, 0, length.toNanos() / 1e6, patience));
        return this;
    }

    /** Requests that come by themselves. */
    Traffic arrivals(String tenant, Draw between, Draw hold) {
        loads.add(new Load(TenantId.of(tenant), 0, between, hold, 0, length.toNanos() / 1e6, null));
        return this;
    }

    Traffic arrivals(String tenant, Draw between, Draw hold, double from) {
        loads.add(new Load(TenantId.of(tenant), 0, between, hold, from, length.toNanos() / 1e6, null));
        return this;
    }

    /** What happens under these rules. */
    Recorded under(Rules rules) {
        return under(rules, 1_000_000);
    }

    /** @param size of the recording */
    Recorded under(Rules rules, int size) {
        VirtualTime time = new VirtualTime(0);
        Recording recording = new Recording(size, time);
        EmbeddedPermitPool pool = new EmbeddedPermitPool("traffic", rules.pool(), rules.shares(), time, recording);
        for (Load load : loads) {
            // Of its own, so that the same requests come by themselves under all rules.
            Random random = new Random(load.tenant().value().hashCode());
            for (int i = 0; i < load.clients(); i++) {
                long begin = (long) (load.from() * 1e6 + 50e6 * i / load.clients());
                time.at(begin, () -> new Client(load, time, pool, random).ask());
            }
            if (load.clients() == 0) {
                time.at((long) (load.from() * 1e6), () -> comeByThemselves(load, time, pool, random));
            }
        }
        time.runUntil(length.toNanos());
        return recording.read(length);
    }

    private static void comeByThemselves(Load load, VirtualTime time, EmbeddedPermitPool pool, Random random) {
        time.at(time.now() + load.pause().applyAsLong(random), () -> {
            new Client(load, time, pool, random).ask();
            comeByThemselves(load, time, pool, random);
        });
    }

    private static final class Client {
        private final Load load;
        private final VirtualTime time;
        private final EmbeddedPermitPool pool;
        private final Random random;

        Client(Load load, VirtualTime time, EmbeddedPermitPool pool, Random random) {
            this.load = load;
            this.time = time;
            this.pool = pool;
            this.random = random;
        }

        void ask() {
            if (time.now() >= load.until() * 1e6) {
                return;
            }
            long hold = load.hold().applyAsLong(random);
            boolean[] isGranted = {false};
            Disposable waiting = pool.acquire(PermitRequest.of(load.tenant()))
                    .subscribe(
                            held -> {
                                isGranted[0] = true;
                                serve(held, hold);
                            },
                            refused -> next(1_000_000_000));
            if (load.patience() != null) {
                time.at(time.now() + load.patience().applyAsLong(random), () -> {
                    if (!isGranted[0] && !waiting.isDisposed()) {
                        waiting.dispose();
                        next(0);
                    }
                });
            }
        }

        private void serve(HeldPermits held, long hold) {
            time.at(time.now() + hold, () -> {
                held.release();
                next(0);
            });
        }

        private void next(long least) {
            if (load.clients() > 0) {
                time.at(time.now() + Math.max(least, load.pause().applyAsLong(random)), this::ask);
            }
        }
    }
}
