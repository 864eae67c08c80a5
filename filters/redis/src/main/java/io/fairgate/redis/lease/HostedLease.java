package io.fairgate.redis.lease;

import io.fairgate.lease.LeaseId;
import io.fairgate.redis.lease.BookedLease.Grant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A lease in the pools of this gateway. For any thread. */
final class HostedLease {

    final LeaseId id;

    /** Guarded by this, as all that follows. */
    private final List<Hold> holds = new ArrayList<>(1);

    /** Its record, as far as this gateway knows. */
    private BookedLease known;

    /** What this gateway tells ledgers that have lost it. */
    private List<Grant> kept = List.of();

    HostedLease(BookedLease lease) {
        this.id = lease.id();
        this.known = lease;
    }

    synchronized BookedLease known() {
        return known;
    }

    /** An older record is ignored. */
    synchronized void knows(BookedLease lease) {
        if (lease.revision() >= known.revision()) {
            known = lease;
        }
    }

    /** From now on this gateway tells ledgers of these grants. Returns those of which it did before, and does no longer. */
    synchronized List<Grant> keep(List<Grant> grants) {
        List<Grant> over = new ArrayList<>(kept);
        over.removeIf(before -> grants.stream().anyMatch(each -> each.claim().equals(before.claim())));
        kept = grants;
        return over;
    }

    /** Returns the hold that waits for these permits or has got them, and makes one if there is none. */
    synchronized Hold waitingFor(Map<String, Integer> permits) {
        for (Hold hold : holds) {
            if (!hold.hasLeft() && !hold.isOver() && hold.permits.equals(permits)) {
                return hold;
            }
        }
        Hold hold = new Hold(this, permits);
        holds.add(hold);
        return hold;
    }

    synchronized List<Hold> holds() {
        return List.copyOf(holds);
    }

    synchronized void remove(Hold hold) {
        holds.remove(hold);
    }

    boolean isBringing() {
        return holds().stream().anyMatch(Hold::isBringing);
    }
}
