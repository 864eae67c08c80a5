package io.fairgate.quota;

/**
 * One quota as it applies to a request.
 *
 * @param owner whose balance is charged
 * @param enforced whether it refuses; one that does not decides and is charged as if it did, and nobody is told but the
 *     operator
 */
public record OwnedQuota(QuotaOwner owner, Quota quota, boolean enforced) {

    /** What it is called where quotas of several owners meet: a group's has the group's name in front of its own. */
    public String label() {
        return owner.kind() == QuotaOwner.Kind.GROUP ? owner.name() + "/" + quota.name() : quota.name();
    }
}
