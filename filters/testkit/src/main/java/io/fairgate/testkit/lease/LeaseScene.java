package io.fairgate.testkit.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.lease.LeaseHolder;
import io.fairgate.lease.LeaseId;
import io.fairgate.lease.LeaseListener;
import io.fairgate.lease.LeaseRequest;
import io.fairgate.lease.LeaseStatus;
import io.fairgate.lease.LeaseTerm;
import io.fairgate.lease.LeasedPools;
import io.fairgate.lease.Leases;
import io.fairgate.permit.LeaseBounds;
import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.RefusalReason;
import io.fairgate.tenant.TenantId;
import io.fairgate.testkit.NothingLeft;
import io.fairgate.testkit.TestTime;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** Leases of {@code pool}, which has two permits, and of {@code other}, which has one, in virtual time. */
public final class LeaseScene {

    public static final TenantId ACME = TenantId.of("acme");
    public static final TenantId GLOBEX = TenantId.of("globex");
    public static final Duration TTL = Duration.ofSeconds(30);
    public static final LeaseTerm TERM = new LeaseTerm(TTL, Duration.ofMinutes(5));

    /** In real time, for a backend with threads of its own. */
    private static final Duration SOON = Duration.ofSeconds(30);

    public final TestTime time;
    public final Leases leases;
    public final List<String> events = new CopyOnWriteArrayList<>();
    final PermitPool pool;
    final PermitPool other;
    /** By the name of the pool; a pool that is not in here has no bounds. */
    final Map<String, LeaseBounds> bounds = new HashMap<>();

    private final LeasesContract backend;

    public LeaseScene(LeasesContract backend, NothingLeft nothingLeft) {
        this.backend = backend;
        time = nothingLeft.watch(new TestTime());
        pool = nothingLeft.watch(
                backend.newPool("pool", PoolSettings.ofPermits(2).withMaxWaiting(3), time));
        other = nothingLeft.watch(
                backend.newPool("other", PoolSettings.ofPermits(1).withMaxWaiting(3), time));
        leases = backend.newLeases(new Pools(), time);
        leases.listen(new Recorder());
    }

    // ---- calls ----

    /** The answer of a call; null when it is empty. */
    public <T> @Nullable T answer(Mono<T> call) {
        return await(call.toFuture());
    }

    /** Subscribes to an acquisition, which may wait. */
    public CompletableFuture<Boolean> acquire(LeaseId id, LeaseRequest request) {
        return acquire(id, request, null);
    }

    CompletableFuture<Boolean> acquire(LeaseId id, LeaseRequest request, @Nullable Mono<Void> payment) {
        CompletableFuture<Boolean> answer =
                leases.acquire(id, request, status -> payment).toFuture();
        backend.runDue(time);
        return answer;
    }

    /** Lets the backend act, and answer what it can answer now. */
    void runDue() {
        backend.runDue(time);
    }

    /** What the call emits in the end. */
    public <T> @Nullable T await(CompletableFuture<T> answer) {
        backend.runDue(time);
        return answer.orTimeout(SOON.toSeconds(), TimeUnit.SECONDS).join();
    }

    public void assertHeld(CompletableFuture<Boolean> answer) {
        assertThat(await(answer)).isTrue();
    }

    public void assertStillWaits(CompletableFuture<Boolean> answer) {
        backend.runDue(time);
        assertThat(answer).isNotDone();
    }

    /** The error of a call. */
    public Throwable error(CompletableFuture<?> answer) {
        backend.runDue(time);
        return Objects.requireNonNull(answer.orTimeout(SOON.toSeconds(), TimeUnit.SECONDS)
                .handle((value, error) -> error instanceof CompletionException ? error.getCause() : error)
                .join());
    }

    static LeaseRequest one(String pool) {
        return permits(1, pool, Duration.ZERO);
    }

    static LeaseRequest permits(int permits, String pool, Duration answerWithin) {
        return LeaseRequest.of(pool, permits, answerWithin, TTL);
    }

    LeaseId opened() {
        return opened(ACME, TERM);
    }

    LeaseId opened(TenantId tenant, LeaseTerm term) {
        LeaseId id = LeaseId.random();
        assertThat(answer(leases.open(id, LeaseHolder.of(tenant, "batch"), term)))
                .isTrue();
        return id;
    }

    /** A lease that holds permits of {@code pool}. */
    LeaseId holding(int permits) {
        LeaseId id = opened();
        assertHeld(acquire(id, permits(permits, "pool", Duration.ZERO)));
        return id;
    }

    void release(LeaseId... ids) {
        for (LeaseId id : ids) {
            assertThat(answer(leases.release(id))).isTrue();
        }
    }

    // ---- what is there ----

    boolean exists(LeaseId id) {
        return answer(leases.status(id)) != null;
    }

    LeaseStatus status(LeaseId id) {
        return Objects.requireNonNull(answer(leases.status(id)));
    }

    Duration left(LeaseId id) {
        return Duration.ofNanos(status(id).leftNanos());
    }

    int inFlight(PermitPool pool) {
        return Objects.requireNonNull(answer(pool.inFlight()));
    }

    int inFlight() {
        return inFlight(pool);
    }

    int waiting() {
        return Objects.requireNonNull(answer(pool.totals())).waiting();
    }

    private final class Pools implements LeasedPools {
        @Override
        public @Nullable PermitPool find(String name) {
            return name.equals("pool") ? pool : name.equals("other") ? other : null;
        }

        @Override
        public LeaseBounds bounds(String name) {
            return bounds.getOrDefault(name, LeaseBounds.WIDEST);
        }
    }

    private final class Recorder implements LeaseListener {
        @Override
        public void granted(LeaseStatus lease, LeaseStatus.Held permits) {
            events.add("granted %d of %s".formatted(permits.permits(), permits.pool()));
        }

        @Override
        public void restored(LeaseStatus lease) {
            events.add("restored " + lease.held().size());
        }

        @Override
        public void refused(LeaseStatus lease, LeaseStatus.Waiting asked, RefusalReason reason) {
            events.add("refused " + reason.label());
        }

        @Override
        public void extended(LeaseStatus lease, Duration ttl) {
            events.add("extended for " + ttl);
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
}
