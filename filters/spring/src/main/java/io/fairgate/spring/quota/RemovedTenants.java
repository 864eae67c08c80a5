package io.fairgate.spring.quota;

import io.fairgate.policy.Policy;
import io.fairgate.policy.QuotaSets;
import io.fairgate.quota.OwnedQuota;
import io.fairgate.quota.QuotaOwner;
import io.fairgate.quota.Quotas;
import io.fairgate.quota.QuotasUnavailableException;
import io.fairgate.spring.policy.PolicyParticipant;
import io.fairgate.spring.refusal.DecisionLog;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.springframework.beans.factory.DisposableBean;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.scheduler.Scheduler;

/**
 * Drops what is kept about removed tenants and groups, but not at once: a quota must not be full again because its
 * tenant was removed for a moment, and operators look up decisions after the change of the policy that they led to.
 */
final class RemovedTenants implements PolicyParticipant, DisposableBean {

    static final Duration CHECK_EVERY = Duration.ofMinutes(1);

    static final Duration DECISIONS_KEPT = Duration.ofHours(1);

    private final Quotas quotas;
    private final DecisionLog decisions;
    private final Scheduler time;
    private final InstantSource clock;

    private final Disposable.Swap timer = Disposables.swap();
    // Guarded by this.
    private Set<String> tenants;
    private Set<QuotaOwner> owners;

    RemovedTenants(Policy policy, Quotas quotas, DecisionLog decisions, Scheduler time, InstantSource clock) {
        this.quotas = quotas;
        this.decisions = decisions;
        this.time = time;
        this.clock = clock;
        this.tenants = namesOf(policy);
        this.owners = ownersOf(policy);
    }

    @Override
    public Order order() {
        return Order.QUOTAS;
    }

    /** Checks periodically from the first removal on: a request in flight may recreate what was dropped. */
    @Override
    public synchronized void commit(Policy next) {
        Set<String> named = namesOf(next);
        Set<QuotaOwner> owning = ownersOf(next);
        if (timer.get() == null && !(named.containsAll(tenants) && owning.containsAll(owners))) {
            checkLater();
        }
        tenants = named;
        owners = owning;
    }

    private static Set<QuotaOwner> ownersOf(Policy policy) {
        return Stream.concat(
                        policy.tenants().stream().map(tenant -> QuotaSets.own(tenant, policy)),
                        policy.groups().keySet().stream().map(group -> QuotaSets.own(group, policy)))
                .flatMap(List::stream)
                .map(OwnedQuota::owner)
                .collect(Collectors.toSet());
    }

    private static Set<String> namesOf(Policy policy) {
        return policy.tenants().stream().map(tenant -> tenant.id().value()).collect(Collectors.toSet());
    }

    /** Does nothing after {@link #destroy}. */
    private void checkLater() {
        timer.replace(time.schedule(this::check, CHECK_EVERY.toNanos(), TimeUnit.NANOSECONDS));
    }

    private synchronized void check() {
        // Balances that cannot be dropped now are dropped at a later check.
        var unused = quotas.dropUnused(owners)
                .onErrorComplete(QuotasUnavailableException.class)
                .subscribe();
        Set<String> known = tenants;
        decisions.drop(tenant -> !known.contains(tenant), clock.instant().minus(DECISIONS_KEPT));
        checkLater();
    }

    @Override
    public void destroy() {
        timer.dispose();
    }
}
