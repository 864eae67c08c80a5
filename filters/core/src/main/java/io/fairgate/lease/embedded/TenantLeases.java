package io.fairgate.lease.embedded;

import io.fairgate.lease.LeaseId;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The leases of one tenant, a linked list through the leases, of which there may be many. Guarded as {@link OpenLease} is. */
final class TenantLeases {

    private @Nullable OpenLease first;
    private int count;

    int count() {
        return count;
    }

    void add(OpenLease lease) {
        lease.behind = first;
        if (first != null) {
            first.before = lease;
        }
        first = lease;
        count++;
    }

    void remove(OpenLease lease) {
        if (lease.before == null) {
            first = lease.behind;
        } else {
            lease.before.behind = lease.behind;
        }
        if (lease.behind != null) {
            lease.behind.before = lease.before;
        }
        lease.before = null;
        lease.behind = null;
        count--;
    }

    List<LeaseId> ids() {
        List<LeaseId> ids = new ArrayList<>(count);
        for (OpenLease each = first; each != null; each = each.behind) {
            ids.add(each.id);
        }
        return ids;
    }
}
