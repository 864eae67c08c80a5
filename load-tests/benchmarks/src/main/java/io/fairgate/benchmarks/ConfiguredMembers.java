package io.fairgate.benchmarks;

import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PermitRefusedException;
import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.embedded.EmbeddedPermitPool;
import io.fairgate.policy.Policy;
import io.fairgate.policy.QuotaRule;
import io.fairgate.policy.QuotaSets;
import io.fairgate.policy.TenantPolicy;
import io.fairgate.quota.Quota;
import io.fairgate.quota.QuotaDecision;
import io.fairgate.quota.QuotaSet;
import io.fairgate.quota.embedded.EmbeddedQuotas;
import io.fairgate.shares.ShareSettings;
import io.fairgate.shares.TenantShares;
import io.fairgate.tenant.TenantId;
import io.fairgate.time.MonotonicScheduler;
import java.time.Duration;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;

/**
 * A policy with many members, of which {@value #ACTIVE} send requests in turn. The active members are evenly spread among the
 * others.
 *
 * <p>The first pool always has free permits. In the second, each active tenant has three waiting requests, and the queue is
 * full. In the third the queue is as long, and each granted request is followed by a new one.
 */
final class ConfiguredMembers {

    static final int ACTIVE = 20;

    private static final int PERMITS = 4;
    private static final int WAITING = 3 * ACTIVE;
    private static final Duration NEVER_REACHED = Duration.ofHours(1);
    private static final PoolSettings SETTINGS = new PoolSettings(PERMITS, WAITING, NEVER_REACHED, NEVER_REACHED);
    private static final Mono<Integer> WORK = Mono.just(1);
    private static final List<QuotaRule> QUOTAS = List.of(
            QuotaRule.of(new Quota.Rate("burst", 1_000_000_000, Duration.ofSeconds(1), 1_000_000_000)),
            QuotaRule.of(new Quota.Calendar("daily", Quota.MAX_LIMIT, Quota.CalendarUnit.DAY, ZoneOffset.UTC)));

    private final TenantId[] tenants;
    private final PermitRequest[] requests;
    private final EmbeddedQuotas quotas = new EmbeddedQuotas(MonotonicScheduler.INSTANCE, InstantSource.system());
    private final QuotaSets sets;
    private final PermitPool open;
    private final PermitPool full;
    private final ClosedLoop contended;
    private final Listening subscriber = new Listening();
    private final Refused refused = new Refused();
    private int next;

    ConfiguredMembers(int count) {
        Map<TenantId, TenantPolicy> members = new LinkedHashMap<>();
        for (int i = 0; i < count; i++) {
            TenantId id = tenant(i);
            members.put(id, new TenantPolicy(id, "plan", ShareSettings.EQUAL, QUOTAS));
        }
        Policy policy = new Policy(List.of(), members, null, Map.of());
        tenants = IntStream.range(0, ACTIVE)
                .mapToObj(i -> tenant(i * (count / ACTIVE)))
                .toArray(TenantId[]::new);
        requests = Arrays.stream(tenants)
                .map(tenant -> PermitRequest.of(tenant).withEventLoop(Runnable::run))
                .toArray(PermitRequest[]::new);
        sets = new QuotaSets(policy);
        TenantShares shares = policy.shares();
        open = pool(shares);
        full = pool(shares);
        contended = new PermitLoop(pool(shares), requests);
        for (int i = 0; i < PERMITS + WAITING; i++) {
            full.withPermit(nextRequest(), Mono.never()).subscribe(new Listening());
            contended.ask(i % ACTIVE);
        }
    }

    private static PermitPool pool(TenantShares shares) {
        return new EmbeddedPermitPool("orders", SETTINGS, shares);
    }

    /** All names have the same length, because longer names take longer to compare. */
    private static TenantId tenant(int member) {
        return TenantId.of("tenant-%05d".formatted(member));
    }

    private int nextTenant() {
        next = next + 1 == ACTIVE ? 0 : next + 1;
        return next;
    }

    private PermitRequest nextRequest() {
        return requests[nextTenant()];
    }

    void grant() {
        open.withPermit(nextRequest(), WORK).subscribe(subscriber);
        subscriber.awaitCompletion();
    }

    void grantContended() {
        contended.endSome(1);
    }

    void refuse() {
        int before = refused.count;
        full.withPermit(nextRequest(), WORK).subscribe(refused);
        if (refused.count != before + 1) {
            throw new IllegalStateException("not refused");
        }
    }

    private QuotaSet nextQuotas() {
        return sets.of(tenants[nextTenant()], "orders");
    }

    @Nullable
    QuotaDecision checkQuotas() {
        return quotas.checkNow(nextQuotas(), 1);
    }

    @Nullable
    QuotaDecision chargeQuotas() {
        return quotas.chargeNow(nextQuotas(), 1);
    }

    void standing() {
        full.standing(tenants[nextTenant()]).subscribe(subscriber);
        subscriber.awaitCompletion();
    }

    void totals() {
        full.totals().subscribe(subscriber);
        subscriber.awaitCompletion();
    }

    void snapshot() {
        full.snapshot().subscribe(subscriber);
        subscriber.awaitCompletion();
    }

    /** Counts refused requests; used by one thread only. */
    private static final class Refused implements CoreSubscriber<Object> {
        private int count;

        @Override
        public void onSubscribe(Subscription subscription) {
            subscription.request(Long.MAX_VALUE);
        }

        @Override
        public void onNext(Object element) {}

        @Override
        public void onError(Throwable error) {
            if (!(error instanceof PermitRefusedException)) {
                throw new IllegalStateException("not a refusal", error);
            }
            count++;
        }

        @Override
        public void onComplete() {}
    }
}
