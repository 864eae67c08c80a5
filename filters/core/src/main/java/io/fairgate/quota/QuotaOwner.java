package io.fairgate.quota;

import io.fairgate.tenant.TenantId;
import java.util.Comparator;

/**
 * Whose balance a quota is charged to: a tenant's own, or that of a group, which the tenants in it share. Ordered, so
 * that whoever charges several owners locks them in one order.
 *
 * @param name 1 to 64 characters of {@code [A-Za-z0-9._-]}; a tenant and a group may have the same
 */
public record QuotaOwner(Kind kind, String name) implements Comparable<QuotaOwner> {

    /** What the name is the name of. */
    public enum Kind {
        TENANT,
        GROUP
    }

    private static final Comparator<QuotaOwner> ORDER =
            Comparator.comparing(QuotaOwner::kind).thenComparing(QuotaOwner::name);

    public QuotaOwner {
        if (!TenantId.isWellFormed(name)) {
            throw new IllegalArgumentException("owner: %d characters (expected: 1 to %d characters of [A-Za-z0-9._-])"
                    .formatted(name.length(), TenantId.MAX_LENGTH));
        }
    }

    public static QuotaOwner tenant(TenantId tenant) {
        return new QuotaOwner(Kind.TENANT, tenant.value());
    }

    public static QuotaOwner group(String name) {
        return new QuotaOwner(Kind.GROUP, name);
    }

    @Override
    public int compareTo(QuotaOwner other) {
        return ORDER.compare(this, other);
    }
}
