package io.fairgate.fairness;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * The definition of what a {@link Backlog} answers: it keeps nothing but who is in it, and looks at all of them each
 * time.
 */
final class ScanBacklog implements Backlog {

    private final List<TenantShare> shares = new ArrayList<>();
    private long horizon;

    @Override
    public void add(TenantShare share, long contendedNow) {
        shares.add(share);
    }

    @Override
    public void remove(TenantShare share, long contendedNow) {
        shares.remove(share);
    }

    @Override
    public void beforeChange(TenantShare share, long contendedNow) {}

    @Override
    public void afterChange(TenantShare share, long contendedNow) {}

    @Override
    public void afterChangeOfQueue(TenantShare share) {}

    @Override
    public void afterChangeOfAll(long contendedNow, long horizon) {
        this.horizon = horizon;
    }

    @Override
    public boolean isEmpty() {
        return shares.isEmpty();
    }

    @Override
    public long served(long contendedNow) {
        return shares.stream().mapToLong(share -> share.served(contendedNow)).sum();
    }

    @Override
    public long weightUnits() {
        return shares.stream().mapToLong(TenantShare::weightUnits).sum();
    }

    @Override
    public long smallestWeightUnits() {
        return shares.stream().mapToLong(TenantShare::weightUnits).min().orElseThrow();
    }

    @Override
    public @Nullable TenantShare firstWithinReservation(long contendedNow) {
        return least(TenantShare::headIsWithinReservation, share -> share.key(contendedNow, horizon));
    }

    @Override
    public @Nullable TenantShare mostUrgent() {
        return least(TenantShare::isBelowGuarantee, TenantShare::partOfGuarantee);
    }

    @Override
    public @Nullable TenantShare mostUrgentPast(Pin pin) {
        return least(share -> share.isBelowGuarantee() && pin.isPassedBy(share), TenantShare::partOfGuarantee);
    }

    @Override
    public @Nullable TenantShare first(long contendedNow) {
        return least(share -> true, share -> share.key(contendedNow, horizon));
    }

    private @Nullable TenantShare least(Predicate<TenantShare> which, ToDoubleFunction<TenantShare> key) {
        return shares.stream()
                .filter(which)
                .min(Comparator.comparingDouble(key)
                        .thenComparingLong(share -> share.lastGrant)
                        .thenComparingLong(share -> share.ordinal))
                .orElse(null);
    }
}
