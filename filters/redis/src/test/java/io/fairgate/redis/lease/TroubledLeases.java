package io.fairgate.redis.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.lease.LeaseHolder;
import io.fairgate.lease.LeaseId;
import io.fairgate.lease.LeaseRequest;
import io.fairgate.lease.LeaseTerm;
import io.fairgate.permit.PermitRequest;
import io.fairgate.redis.lease.SharedLeases.Gateway;
import io.fairgate.redis.slice.NearPools;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/**
 * Holders that acquire, extend and release leases at any gateway, and requests at all gateways, while gateways are killed and cut off, answers
 * get lost, the book is lost and the clock of Redis leaps.
 */
final class TroubledLeases {

    private static final Map<String, Integer> PERMITS = Map.of("pool", 5, "other", 2);
    private static final int STEPS = 600;
    private static final int GATEWAYS = 3;

    /** The line of a record with the name of its host. */
    private static final int HOST = 6;

    /** Shorter than the time between the last grant of a slice and its end. */
    private static final Duration LONGEST_WORK = Duration.ofMillis(300);

    /** A holder, and what it believes. */
    private final class Holder {
        final LeaseId id = LeaseId.random();
        final Map<String, Integer> wanted = new TreeMap<>();
        final Duration ttl;

        /** Until when it works, by what it was answered last; 0 when it does not. */
        long worksUntil;

        boolean isOver;
        private int factor = 1;

        Holder(Map<String, Integer> wanted, Duration ttl) {
            this.wanted.putAll(wanted);
            this.ttl = ttl;
        }

        int works(String pool) {
            return now() < worksUntil ? wanted.getOrDefault(pool, 0) : 0;
        }

        void open() {
            gateway()
                    .leases
                    .open(id, LeaseHolder.of(SharedLeases.ACME, "holder"), new LeaseTerm(ttl, Duration.ofHours(1)))
                    .subscribe(isOpen -> {}, failed -> isOver = true);
        }

        void acquire() {
            Gateway at = gateway();
            Duration within = Duration.ofMillis(random.nextBoolean() ? 0 : random.nextInt(3_000));
            at.leases
                    .acquire(id, new LeaseRequest(wanted, within, ttl))
                    .subscribe(
                            isHeld -> {
                                if (isHeld) {
                                    look(at);
                                }
                            },
                            failed -> {});
        }

        /** How long it may work: the lease may have been granted a while ago. */
        private void look(Gateway at) {
            long sentAt = now();
            at.leases
                    .status(id)
                    .subscribe(
                            status -> {
                                if (!isOver
                                        && !status.held().isEmpty()
                                        && status.held().size() >= wanted.size()) {
                                    granted += worksUntil == 0 ? 1 : 0;
                                    worksUntil = Math.max(worksUntil, sentAt + status.leftNanos());
                                }
                            },
                            failed -> {});
        }

        void extend() {
            long sentAt = now();
            gateway()
                    .leases
                    .extend(id, longer())
                    .subscribe(
                            lasts -> {
                                if (worksUntil > 0 && !isOver) {
                                    worksUntil = Math.max(worksUntil, sentAt + lasts.toNanos());
                                }
                            },
                            failed -> {});
        }

        /** No shorter than before: calls at several gateways may overtake each other. */
        private Duration longer() {
            factor += random.nextInt(2);
            return ttl.multipliedBy(factor);
        }

        /** Gives one of its pools back, and works on with the others. */
        void releasePool() {
            if (wanted.size() > 1) {
                String pool = wanted.keySet().iterator().next();
                wanted.remove(pool);
                gateway().leases.release(id, pool).subscribe(done -> {}, failed -> {});
            }
        }

        /** Its clients leave in the middle of a call. */
        void leave() {
            RedisLeases leases = gateway().leases;
            Mono<?> call = random.nextBoolean()
                    ? leases.acquire(id, new LeaseRequest(wanted, Duration.ofSeconds(1), ttl))
                    : leases.extend(id, longer());
            Disposable client = call.subscribe(done -> {}, failed -> {});
            after(Duration.ofMillis(random.nextInt(3)), client::dispose);
        }

        void release() {
            worksUntil = 0;
            isOver = true;
            gateway().leases.release(id).subscribe(done -> {}, failed -> {});
        }
    }

    private final SplittableRandom random;
    private final SharedLeases cluster = new SharedLeases(PERMITS);
    private final List<Holder> holders = new ArrayList<>();
    private final Map<Gateway, Map<String, Integer>> work = new HashMap<>();
    private final List<String> events = new ArrayList<>();
    private final List<Gateway> live = new ArrayList<>();
    private int granted;

    TroubledLeases(long seed) {
        random = new SplittableRandom(seed);
        live.addAll(cluster.newGateways(GATEWAYS));
    }

    int granted() {
        return granted;
    }

    private long now() {
        return cluster.time.now(TimeUnit.NANOSECONDS);
    }

    private Gateway gateway() {
        return live.get(random.nextInt(live.size()));
    }

    void run() {
        for (int i = 0; i < STEPS; i++) {
            step();
            cluster.pass(Duration.ofMillis(1 + random.nextInt(120)));
            check();
        }
        settle();
    }

    private void step() {
        gateway().book.oneWay = Duration.ofNanos(random.nextInt(20) == 0 ? 0 : random.nextInt(8_000_000));
        int n = random.nextInt(100);
        if (n < 25) {
            request(gateway());
        } else if (n < 40) {
            newHolder();
        } else if (n < 92) {
            actOf(holders.isEmpty() ? null : holders.get(random.nextInt(holders.size())));
        } else {
            trouble(random.nextInt(100));
        }
    }

    private void request(Gateway at) {
        String pool = random.nextInt(4) == 0 ? "other" : "pool";
        Duration takes = Duration.ofMillis(1 + random.nextInt((int) LONGEST_WORK.toMillis()));
        Mono<Long> counted = Mono.defer(() -> {
                    work.computeIfAbsent(at, first -> new TreeMap<>()).merge(pool, 1, Integer::sum);
                    return Mono.delay(takes, cluster.time);
                })
                .doFinally(end -> work.computeIfPresent(at, (gateway, running) -> {
                    running.merge(pool, -1, Integer::sum);
                    return running;
                }));
        at.pool(pool)
                .withPermit(PermitRequest.of(SharedLeases.ACME).withMaxWait(Duration.ofSeconds(1)), counted)
                .subscribe(done -> {}, failed -> {});
    }

    private void newHolder() {
        int kind = random.nextInt(10);
        Map<String, Integer> wanted = kind < 7
                ? Map.of("pool", 1 + random.nextInt(3))
                : kind < 8 ? Map.of("other", 1) : Map.of("pool", 1 + random.nextInt(2), "other", 1);
        Holder holder = new Holder(wanted, Duration.ofMillis(500 + random.nextInt(8_000)));
        holders.add(holder);
        holder.open();
        holder.acquire();
    }

    private void actOf(@Nullable Holder holder) {
        if (holder != null && !holder.isOver) {
            switch (random.nextInt(10)) {
                case 0, 1, 2 -> holder.acquire();
                case 3, 4 -> holder.extend();
                case 5 -> holder.release();
                case 6 -> holder.releasePool();
                case 7 -> holder.leave();
                default -> {
                    // Silent for a while.
                }
            }
        }
    }

    private void trouble(int kind) {
        Gateway at = gateway();
        if (kind < 35) {
            events.add(now() / 1_000_000 + " cut " + at.name);
            at.cut(true);
            after(Duration.ofMillis(100 + random.nextInt(6_000)), () -> at.cut(at.isDead));
        } else if (kind < 60) {
            events.add(now() / 1_000_000 + " answers lost " + at.name);
            at.book.isAnswerLost = true;
            after(Duration.ofMillis(50 + random.nextInt(700)), () -> at.book.isAnswerLost = false);
        } else if (kind < 80) {
            events.add(now() / 1_000_000 + " kill " + at.name);
            at.kill();
            work.remove(at);
            live.remove(at);
            live.add(cluster.newGateway());
        } else if (kind < 94) {
            events.add(now() / 1_000_000 + " clock");
            cluster.clockSteps(Duration.ofMillis(random.nextLong(-60_000, 60_000)));
        } else if (kind < 97) {
            events.add(now() / 1_000_000 + " book lost");
            loseBook();
        } else {
            events.add(now() / 1_000_000 + " all lost");
            loseAll();
        }
    }

    private void loseBook() {
        NearBook.redis().flushall();
        cluster.otherServer("server-" + now());
    }

    /** What only a gateway knew that has ended is lost; the others are given the time to tell what they know. */
    private void loseAll() {
        live.forEach(this::heal);
        cluster.pass(Duration.ofSeconds(1));
        List<String> names = live.stream().map(each -> each.name).toList();
        for (Holder holder : holders) {
            String record = NearBook.record(holder.id);
            if (record == null || !names.contains(record.split("\n", -1)[HOST])) {
                holder.release();
            }
        }
        cluster.pass(Duration.ofMillis(200));
        if (random.nextBoolean()) {
            loseBook();
        }
        cluster.pools.flush("server-" + now());
        cluster.pass(NearPools.AFTER_RECOVERY);
    }

    private void heal(Gateway gateway) {
        gateway.cut(false);
        gateway.book.isAnswerLost = false;
    }

    private void after(Duration delay, Runnable action) {
        var unused = cluster.time.createWorker().schedule(action, delay.toNanos(), TimeUnit.NANOSECONDS);
    }

    private void check() {
        PERMITS.forEach((pool, permits) -> {
            int held = holders.stream().mapToInt(holder -> holder.works(pool)).sum();
            int running = work.values().stream()
                    .mapToInt(each -> each.getOrDefault(pool, 0))
                    .sum();
            assertThat(held + running)
                    .as(
                            "%d of leases and %d of requests in %s at %d ms, after %s",
                            held, running, pool, now() / 1_000_000, events)
                    .isLessThanOrEqualTo(permits);
        });
    }

    /** The ledgers have what the book has, but for what gateways have left behind that have ended. */
    private void checkLedgers() {
        List<String> records = NearBook.records();
        PERMITS.forEach((pool, permits) -> assertThat(cluster.pools.leases(pool))
                .as("leases in %s, after %s", pool, events)
                .filteredOn(claim -> live.stream().anyMatch(each -> claim.startsWith(each.name + ".")))
                .allMatch(claim -> records.stream().anyMatch(record -> record.contains(" " + claim + " "))));
    }

    /** All that is open is released or expires; then one lease gets all permits. */
    private void settle() {
        live.forEach(this::heal);
        cluster.pass(NearPools.AFTER_RECOVERY);
        live.forEach(this::heal); // of a trouble that ended meanwhile
        cluster.pass(NearPools.AFTER_RECOVERY);
        checkLedgers();
        holders.forEach(holder -> holder.isOver = true);
        cluster.pass(Duration.ofMinutes(1));
        for (Gateway each : live) {
            PERMITS.forEach(
                    (pool, permits) -> assertThat(cluster.answer(each.pool(pool).inFlight()))
                            .as("in flight in %s at %s, after %s", pool, each.name, events)
                            .isZero());
        }
        Gateway any = gateway();
        LeaseId all = any.opened();
        var answer = any.acquire(all, new LeaseRequest(PERMITS, Duration.ofSeconds(10), SharedLeases.TTL));
        cluster.pass(Duration.ofSeconds(10));
        assertThat(answer).as("after %s", events).isCompletedWithValue(true);
        PERMITS.forEach(
                (pool, permits) -> assertThat(cluster.pools.leased(pool)).isEqualTo(permits));
        cluster.answer(any.leases.release(all));
        PERMITS.forEach(
                (pool, permits) -> assertThat(cluster.pools.leased(pool)).isZero());
    }
}
