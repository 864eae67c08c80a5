package io.fairgate.quota;

import io.fairgate.tenant.TenantId;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * All quotas that apply to the requests of one tenant on one route: its own, and those of each group that it is in. Made
 * once for a policy, not for each request, because a backend remembers with it where the balances are.
 *
 * <p>Immutable, and safe for any number of threads.
 */
public final class QuotaSet {

    /** Limits nothing. */
    public static final QuotaSet NONE = new QuotaSet(List.of());

    private final List<OwnedQuota> quotas;

    /** Where the balances are in the backend that was asked last; a program has one. */
    private volatile @Nullable BoundQuotas bound;

    private volatile boolean refusedLast;

    private QuotaSet(List<OwnedQuota> quotas) {
        this.quotas = quotas;
    }

    /**
     * The set of these quotas, in the order in which they are reported.
     *
     * @throws IllegalArgumentException when an owner has two quotas of the same name
     */
    public static QuotaSet of(List<OwnedQuota> quotas) {
        Set<String> labels = new HashSet<>();
        for (OwnedQuota quota : quotas) {
            if (!labels.add(quota.label())) {
                throw new IllegalArgumentException(
                        "quotas: %s twice (expected: a name of its own for each)".formatted(quota.label()));
            }
        }
        return quotas.isEmpty() ? NONE : new QuotaSet(List.copyOf(quotas));
    }

    /** The enforced quotas of a tenant that shares none. */
    public static QuotaSet of(TenantId tenant, Quota... quotas) {
        List<OwnedQuota> owned = new ArrayList<>();
        for (Quota quota : quotas) {
            owned.add(new OwnedQuota(QuotaOwner.tenant(tenant), quota, true));
        }
        return of(owned);
    }

    /** In the order in which they are reported. */
    public List<OwnedQuota> quotas() {
        return quotas;
    }

    public boolean isEmpty() {
        return quotas.isEmpty();
    }

    /**
     * Whether the latest decision about a request of this set refused it. A hint, written without a lock: for a caller that
     * could leave a check out, because the charge that follows at once decides the same.
     */
    public boolean refusedLast() {
        return refusedLast;
    }

    /** Written only when it changes: all requests of the tenant read it. */
    void note(QuotaDecision decision) {
        if (refusedLast == decision.allowed()) {
            refusedLast = !decision.allowed();
        }
    }

    @Nullable
    BoundQuotas bound() {
        return bound;
    }

    void bind(BoundQuotas to) {
        bound = to;
    }

    @Override
    public String toString() {
        return quotas.toString();
    }
}
