package io.fairgate.redis.lease;

import io.fairgate.lease.LeaseHolder;
import io.fairgate.lease.LeaseId;
import io.fairgate.lease.LeaseListener;
import io.fairgate.lease.LeaseRequest;
import io.fairgate.lease.LeaseStatus;
import io.fairgate.lease.LeaseTerm;
import io.fairgate.lease.LeasedPools;
import io.fairgate.permit.LeaseBounds;
import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.RefusalReason;
import io.fairgate.redis.slice.NearPools;
import io.fairgate.redis.slice.RedisPermitPool;
import io.fairgate.tenant.TenantId;
import io.fairgate.testkit.TestTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** Several gateways with the same leases and pools, in virtual time; the book is in a real Redis. */
final class SharedLeases {

    static final TenantId ACME = TenantId.of("acme");
    static final Duration TTL = Duration.ofSeconds(30);
    static final LeaseTerm TERM = new LeaseTerm(TTL, Duration.ofMinutes(5));
    static final Duration FAILOVER = Duration.ofMillis(700);

    final TestTime time = new TestTime();
    final NearPools pools = new NearPools(time);
    private final Map<String, PoolSettings> settings = new LinkedHashMap<>();
    private final List<Gateway> gateways = new ArrayList<>();
    private long ahead = 1_760_000_000_000L;
    private String server = "a";

    /** @param permits the number of permits, by the name of the pool */
    SharedLeases(Map<String, Integer> permits) {
        NearBook.redis().flushall();
        permits.forEach((name, number) -> settings.put(name, PoolSettings.ofPermits(number)));
    }

    /** One gateway. */
    final class Gateway implements LeaseListener {
        final String name;
        final NearBook book = new NearBook(time);
        final Map<String, RedisPermitPool> own = new LinkedHashMap<>();
        final RedisLeases leases;
        final List<String> events = new ArrayList<>();
        boolean isDead;

        private Gateway(String name) {
            this.name = name;
            book.ahead = ahead;
            book.server = server;
            settings.forEach((pool, each) -> own.put(pool, pools.newPool(pool, each)));
            leases = new RedisLeases(new Pools(), book, name, FAILOVER, time, time);
            leases.listen(this);
            leases.startBeats();
        }

        private final class Pools implements LeasedPools {
            @Override
            public @Nullable PermitPool find(String pool) {
                return own.get(pool);
            }

            @Override
            public LeaseBounds bounds(String pool) {
                return LeaseBounds.WIDEST;
            }
        }

        RedisPermitPool pool(String pool) {
            return Objects.requireNonNull(own.get(pool));
        }

        /** It does nothing more, and nothing that it has sent arrives. */
        void kill() {
            isDead = true;
            book.isLost = true;
            pools.cut(own.values(), true);
        }

        /** Nothing that it sends arrives. */
        void cut(boolean isCut) {
            book.isLost = isCut;
            pools.cut(own.values(), isCut);
        }

        CompletableFuture<Boolean> acquire(LeaseId id, int permits, Duration answerWithin) {
            return acquire(id, LeaseRequest.of("pool", permits, answerWithin, TTL));
        }

        CompletableFuture<Boolean> acquire(LeaseId id, LeaseRequest request) {
            CompletableFuture<Boolean> answer = leases.acquire(id, request).toFuture();
            time.runDue();
            return answer;
        }

        /** Has the lease wait; the call ends at once. */
        void queue(LeaseId id, int permits) {
            var unused = acquire(id, permits, Duration.ZERO);
        }

        LeaseId opened() {
            LeaseId id = LeaseId.random();
            answer(leases.open(id, LeaseHolder.of(ACME, "batch"), TERM));
            return id;
        }

        /** A lease that holds permits of {@code pool}. */
        LeaseId holding(int permits) {
            LeaseId id = opened();
            CompletableFuture<Boolean> held = acquire(id, permits, Duration.ofSeconds(5));
            pass(Duration.ofSeconds(1));
            if (!held.isDone() || !held.join()) {
                throw new AssertionError("not held");
            }
            return id;
        }

        @Nullable
        LeaseStatus status(LeaseId id) {
            return answer(leases.status(id));
        }

        int inFlight() {
            return Objects.requireNonNull(answer(pool("pool").inFlight()));
        }

        @Override
        public void granted(LeaseStatus lease, LeaseStatus.Held permits) {
            events.add("granted %d of %s".formatted(permits.permits(), permits.pool()));
        }

        @Override
        public void refused(LeaseStatus lease, LeaseStatus.Waiting asked, RefusalReason reason) {
            events.add("refused " + reason.label());
        }

        @Override
        public void extended(LeaseStatus lease, Duration ttl) {
            events.add("extended");
        }

        @Override
        public void released(LeaseStatus lease, LeaseStatus.Held permits) {
            events.add("released " + permits.pool());
        }

        @Override
        public void ended(LeaseStatus lease, End how) {
            events.add(how + " with " + lease.held().size());
        }
    }

    Gateway newGateway() {
        Gateway gateway = new Gateway("gateway-" + gateways.size());
        gateways.add(gateway);
        return gateway;
    }

    /** That many gateways, which have their slices. */
    List<Gateway> newGateways(int number) {
        List<Gateway> all = new ArrayList<>();
        for (int i = 0; i < number; i++) {
            all.add(newGateway());
        }
        pass(NearPools.AFTER_RECOVERY);
        return all;
    }

    List<Gateway> gateways() {
        return gateways;
    }

    /** The server is another one from now on. */
    void otherServer(String identity) {
        server = identity;
        gateways.forEach(gateway -> gateway.book.server = identity);
    }

    void clockSteps(Duration step) {
        ahead += step.toMillis();
        gateways.forEach(gateway -> gateway.book.ahead = ahead);
    }

    void pass(Duration duration) {
        time.advanceBy(duration);
    }

    /** The answer of a call, which needs no time; null when it is empty. */
    <T> @Nullable T answer(Mono<T> call) {
        CompletableFuture<T> future = call.toFuture();
        for (int i = 0; i < 100 && !future.isDone(); i++) {
            time.advanceBy(Duration.ofMillis(10));
        }
        return of(future);
    }

    static <T> @Nullable T of(CompletableFuture<T> future) {
        return future.orTimeout(1, TimeUnit.SECONDS).join();
    }

    static Throwable error(CompletableFuture<?> answer) {
        return Objects.requireNonNull(answer.orTimeout(1, TimeUnit.SECONDS)
                .handle((value, error) -> error instanceof CompletionException ? error.getCause() : error)
                .join());
    }
}
