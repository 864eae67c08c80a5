package io.fairgate.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.fairness.TenantShares;
import io.fairgate.lease.FencingTokens;
import io.fairgate.lease.LeaseId;
import io.fairgate.lease.LeaseListener;
import io.fairgate.lease.LeaseRequest;
import io.fairgate.lease.LeaseStatus;
import io.fairgate.lease.LeaseTerm;
import io.fairgate.lease.embedded.LeasedPools;
import io.fairgate.lease.embedded.Leases;
import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PoolListener;
import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.RefusalReason;
import io.fairgate.permit.embedded.EmbeddedPermitPool;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.scheduler.Scheduler;

/** Leases of {@code pool}, which has two permits, and of {@code other}, which has one, in virtual time. */
final class LeaseScene {

    static final TenantId ACME = TenantId.of("acme");
    static final Duration TTL = Duration.ofSeconds(30);
    static final LeaseTerm TERM = new LeaseTerm(TTL, Duration.ofMinutes(5));

    final TestTime time;
    final List<String> heard = new ArrayList<>();
    final Leases leases;
    private final EmbeddedPermitPool pool;
    private final EmbeddedPermitPool other;

    LeaseScene(NothingLeft nothingLeft) {
        time = nothingLeft.watch(new TestTime());
        pool = nothingLeft.watch(pool("pool", PoolSettings.ofPermits(2).withMaxWaiting(3), time));
        other = nothingLeft.watch(pool("other", PoolSettings.ofPermits(1).withMaxWaiting(3), time));
        leases = new Leases(new Pools(), time, new FencingTokens(() -> Instant.EPOCH), new Heard());
    }

    /** A pool for itself. */
    static EmbeddedPermitPool pool(String name, PoolSettings settings, Scheduler time) {
        return new EmbeddedPermitPool(name, settings, TenantShares.EQUAL, time, PoolListener.NONE);
    }

    /** Leases of that pool alone, of which nobody hears. */
    Leases leasesOf(EmbeddedPermitPool single) {
        return new Leases(
                Map.of(single.name(), single)::get, time, new FencingTokens(() -> Instant.EPOCH), LeaseListener.NONE);
    }

    /** What became of one call. */
    static final class Answer {
        @Nullable
        Boolean held;

        @Nullable
        Throwable error;

        Disposable call = Disposables.disposed();
    }

    Answer ask(LeaseId id, LeaseRequest request) {
        Answer answer = new Answer();
        answer.call =
                leases.take(id, request, status -> {}).subscribe(held -> answer.held = held, e -> answer.error = e);
        return answer;
    }

    static LeaseRequest one(String pool) {
        return permits(1, pool, Duration.ZERO);
    }

    static LeaseRequest permits(int permits, String pool, Duration patience) {
        return LeaseRequest.of(pool, permits, patience, TTL);
    }

    LeaseId opened() {
        LeaseId id = LeaseId.random();
        assertThat(leases.open(id, ACME, "batch", TERM)).isTrue();
        return id;
    }

    LeaseId holding(int permits) {
        LeaseId id = opened();
        assertThat(ask(id, permits(permits, "pool", Duration.ZERO)).held).isTrue();
        return id;
    }

    LeaseStatus status(LeaseId id) {
        return Objects.requireNonNull(leases.status(id));
    }

    int inFlight() {
        return NothingLeft.statusOf(pool).inFlight();
    }

    int waiting() {
        return NothingLeft.statusOf(pool).waiting();
    }

    int inFlightOfOther() {
        return NothingLeft.statusOf(other).inFlight();
    }

    private final class Pools implements LeasedPools {
        @Override
        public @Nullable PermitPool find(String name) {
            return name.equals("pool") ? pool : name.equals("other") ? other : null;
        }
    }

    private final class Heard implements LeaseListener {
        @Override
        public void granted(LeaseStatus lease, LeaseStatus.Held permits) {
            heard.add("granted %d of %s".formatted(permits.permits(), permits.pool()));
        }

        @Override
        public void restored(LeaseStatus lease) {
            heard.add("restored " + lease.held().size());
        }

        @Override
        public void refused(LeaseStatus lease, LeaseStatus.Waiting asked, RefusalReason reason) {
            heard.add("refused " + reason.label());
        }

        @Override
        public void extended(LeaseStatus lease, Duration ttl) {
            heard.add("extended for " + ttl);
        }

        @Override
        public void ended(LeaseStatus lease, End how) {
            heard.add(how + " with " + lease.held().size());
        }

        @Override
        public void gaveBack(LeaseStatus lease, LeaseStatus.Held permits) {
            heard.add("gave back " + permits.pool());
        }
    }
}
