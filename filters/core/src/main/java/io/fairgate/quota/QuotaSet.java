package io.fairgate.quota;

import io.fairgate.tenant.TenantId;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * All quotas that apply to the requests of one tenant on one route: its own, and those of each group above it. Made once for
 * a policy, not for each request, because a backend stores a reference to the balances in it.
 *
 * <p>Immutable, and safe for any number of threads.
 */
public final class QuotaSet {

    /** No quotas. */
    public static final QuotaSet NONE = new QuotaSet(List.of());

    private final List<OwnedQuota> quotas;

    /** What the backend that used the set last keeps with it; a program has one backend. */
    private volatile @Nullable Object attachment;

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

    /** The quotas of a tenant without groups, all enforced. */
    public static QuotaSet of(TenantId tenant, Quota... quotas) {
        List<OwnedQuota> owned = new ArrayList<>();
        for (Quota quota : quotas) {
            owned.add(new OwnedQuota(QuotaOwner.tenant(tenant), quota, true));
        }
        return of(owned);
    }

    /** The quotas, in the order in which they are reported. */
    public List<OwnedQuota> quotas() {
        return quotas;
    }

    public boolean isEmpty() {
        return quotas.isEmpty();
    }

    /**
     * Whether the latest decision for this set was a refusal. A hint, written without a lock, for callers that can leave out a
     * check because the charge that follows at once makes the same decision.
     */
    public boolean refusedLast() {
        return refusedLast;
    }

    /** For a backend: stores the hint. Writes it only when it changes, because all requests of the tenant read it. */
    public void note(QuotaDecision decision) {
        if (refusedLast == decision.allowed()) {
            refusedLast = !decision.allowed();
        }
    }

    /** For a backend: what it attached to the set, or null; of another backend, if a program has several. */
    public @Nullable Object attachment() {
        return attachment;
    }

    /** For a backend: attaches what makes its next decision about the set faster. */
    public void attach(Object attachment) {
        this.attachment = attachment;
    }

    @Override
    public String toString() {
        return quotas.toString();
    }
}
