package io.fairgate.fairness.model;

import io.fairgate.fairness.TestRequest;
import io.fairgate.shares.ShareSettings;
import io.fairgate.tenant.TenantId;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** One tenant of the {@link BacklogModel}. */
final class BacklogTenant {

    private static final Comparator<BacklogTenant> GRANTED_LONGEST_AGO =
            Comparator.<BacklogTenant>comparingLong(t -> t.lastGrant).thenComparingLong(t -> t.ordinal);

    static final Comparator<BacklogTenant> SMALLEST_PART_OF_ITS_GUARANTEE = ((Comparator<BacklogTenant>)
                    (a, b) -> Long.compare(
                            (long) a.inFlight * b.settings.guaranteed(), (long) b.inFlight * a.settings.guaranteed()))
            .thenComparing(GRANTED_LONGEST_AGO);

    final TenantId id;
    final long ordinal;
    final List<TestRequest> queue = new ArrayList<>();
    ShareSettings settings;
    int inFlight;
    /** The permits collected for its first request. */
    int kept;
    /** Whether its last grant was due to a guarantee or a reservation. */
    boolean servedFirst;

    double served;
    boolean backlogged;
    long lastGrant;
    /** In contended time. */
    long idleSince;

    boolean mayBeForgotten;
    boolean mustBeForgotten;
    private long passedCollection;
    private int passed;

    BacklogTenant(TenantId id, ShareSettings settings, long ordinal) {
        this.id = id;
        this.settings = settings;
        this.ordinal = ordinal;
    }

    double weight() {
        return settings.weight();
    }

    boolean isIdle() {
        return inFlight == 0 && queue.isEmpty();
    }

    int asks() {
        return queue.get(0).permits();
    }

    /** The permits that it takes out of the pool: held, or reserved for it. */
    long occupied() {
        return Math.max(inFlight, settings.reserved());
    }

    long costs(int n) {
        return Math.max(inFlight + n, settings.reserved()) - occupied();
    }

    boolean mayPass(long collection) {
        return (collection == passedCollection ? passed : 0) + asks() <= settings.guaranteed();
    }

    void countPass(long collection, int n) {
        passed = n + (collection == passedCollection ? passed : 0);
        passedCollection = collection;
    }

    Key key(double gain) {
        return new Key(this, (served + gain * inFlight) / weight());
    }

    @Override
    public String toString() {
        return "%s (holds %d, served %.0f, waiting %d)".formatted(id, inFlight, served, queue.size());
    }

    /** A tenant's key; ordered as permits are granted. */
    record Key(BacklogTenant tenant, double value) implements Comparable<Key> {

        @Override
        public int compareTo(Key other) {
            int order = Double.compare(value, other.value);
            return order != 0 ? order : GRANTED_LONGEST_AGO.compare(tenant, other.tenant);
        }

        boolean isCloseTo(Key other) {
            return Math.abs(value - other.value) <= 1e3 + 1e-12 * Math.abs(value);
        }

        /** Whether all keys are the same but for rounding. */
        static boolean areCertain(List<Key> keys) {
            BacklogTenant first = keys.get(0).tenant();
            return keys.stream()
                    .map(Key::tenant)
                    .allMatch(t -> t.served == first.served
                            && Math.abs(t.served) < 1e15
                            && t.served == Math.rint(t.served)
                            && t.inFlight == first.inFlight
                            && t.weight() == first.weight());
        }
    }
}
