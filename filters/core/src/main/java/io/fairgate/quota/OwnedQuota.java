package io.fairgate.quota;

/**
 * One quota as it applies to a request.
 *
 * @param owner the owner of the balance that is charged
 * @param enforced false for a dry run: the quota decides and is charged as if it were enforced, but refuses no request, and
 *     only the operator sees its decisions
 */
public record OwnedQuota(QuotaOwner owner, Quota quota, boolean enforced) {

    /** The name among the quotas of several owners: that of a group's quota is {@code group/name}. */
    public String label() {
        return owner.kind() == QuotaOwner.Kind.GROUP ? owner.name() + "/" + quota.name() : quota.name();
    }
}
