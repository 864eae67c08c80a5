package io.fairgate.quota;

import io.fairgate.tenant.TenantId;
import java.util.Comparator;

/**
 * The owner of a quota's balance: a tenant, or a group, whose balance the tenants in it share. Owners are ordered, so that a
 * charge to several owners always takes their locks in the same order.
 *
 * @param name 1 to 64 characters of {@code [A-Za-z0-9._-]}; a tenant and a group may have the same name
 */
public record QuotaOwner(Kind kind, String name) implements Comparable<QuotaOwner> {

    /** The kind of owner. */
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
