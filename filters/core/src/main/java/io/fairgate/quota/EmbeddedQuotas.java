package io.fairgate.quota;

import io.fairgate.tenant.TenantId;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/**
 * The quotas of one process, kept in memory and gone when it ends.
 *
 * <p>Decides on the subscriber's thread, from any number of threads, and hands the work to no other; each subscription
 * is a decision of its own. Rates are exact to the nanosecond of the monotonic clock, calendars to the instant of the
 * wall clock; the package description explains both, and what changed numbers and a wall clock that jumps do.
 *
 * <p>A tenant costs one small entry for each quota from its first charge on, and none when it has no quotas or is only
 * checked. Entries of a tenant are not evicted, because a forgotten usage is a refill: whoever calls bounds the tenants.
 */
public final class EmbeddedQuotas implements Quotas {

    private final Scheduler clock;
    private final InstantSource calendar;
    private final ConcurrentMap<TenantId, TenantUsage> tenants = new ConcurrentHashMap<>();

    /**
     * @param clock monotonic, for rates: only {@link Scheduler#now(TimeUnit)} is used, in nanoseconds; a program passes
     *     {@link io.fairgate.time.MonotonicScheduler#INSTANCE}
     * @param calendar the wall clock, for days and months only
     */
    public EmbeddedQuotas(Scheduler clock, InstantSource calendar) {
        this.clock = clock;
        this.calendar = calendar;
    }

    /** @throws IllegalArgumentException at once, when {@code units} is below 1 */
    @Override
    public Mono<QuotaDecision> check(TenantId tenant, List<Quota> quotas, long units) {
        List<Quota> asked = requireValid(quotas, units);
        if (asked.isEmpty()) {
            return Mono.just(QuotaDecision.UNLIMITED);
        }
        return Mono.fromSupplier(() -> {
            TenantUsage known = tenants.get(tenant);
            return (known == null ? new TenantUsage() : known).check(asked, units, now());
        });
    }

    /** @throws IllegalArgumentException at once, when {@code units} is below 1 */
    @Override
    public Mono<QuotaDecision> charge(TenantId tenant, List<Quota> quotas, long units) {
        List<Quota> asked = requireValid(quotas, units);
        if (asked.isEmpty()) {
            return Mono.just(QuotaDecision.UNLIMITED);
        }
        return Mono.fromSupplier(
                () -> tenants.computeIfAbsent(tenant, t -> new TenantUsage()).charge(asked, units, now()));
    }

    private Moment now() {
        return new Moment(clock.now(TimeUnit.NANOSECONDS), calendar.instant());
    }

    private static List<Quota> requireValid(List<Quota> quotas, long units) {
        if (units < 1) {
            throw new IllegalArgumentException("units: %d (expected: >= 1)".formatted(units));
        }
        return List.copyOf(quotas);
    }

    /** How many tenants have a usage written down, for tests. */
    int tenantsKnown() {
        return tenants.size();
    }
}
