package io.fairgate.redis.lease;

import io.fairgate.lease.LeaseId;
import io.fairgate.redis.lease.BookedLease.Grant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A lease that this gateway hosts: it waits in the pools here, or was granted here, or is that of a gateway that has ended. For any thread. */
final class HostedLease {

    final LeaseId id;

    /** Guarded by this, as all that follows. */
    private final List<Hold> holds = new ArrayList<>(1);

    /** Its record, as far as this gateway knows. */
    private BookedLease known;

    /** The grants of which this gateway tells the ledgers when they have lost them, and the revision of the record that named them. */
    private List<Grant> kept = List.of();

    private long keptSince;

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

    /** Whether the record is no older than the one whose grants are kept: then these are kept. */
    synchronized boolean keeps(BookedLease lease) {
        if (lease.revision() < keptSince) {
            return false;
        }
        keptSince = lease.revision();
        kept = lease.grants();
        return true;
    }

    synchronized List<Grant> kept() {
        return kept;
    }

    /** This one has ended. */
    synchronized void keepsNot(Grant ended) {
        kept = kept.stream().filter(each -> !each.claim().equals(ended.claim())).toList();
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
