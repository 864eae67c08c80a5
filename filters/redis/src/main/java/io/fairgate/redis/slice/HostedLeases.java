package io.fairgate.redis.slice;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.MonoSink;

/**
 * The leases whose permits the pool of this process has granted. Each is part of the slice until the ledger has recorded it; from then on
 * the pool may have its permits in flight beside the slice. On the worker of the node only.
 */
final class HostedLeases {

    private static final class Unrecorded {
        final LeaseClaim claim;
        final boolean isRestored;
        final MonoSink<Boolean> answer;

        /** What releases the permits in the pool, when the lease has ended meanwhile. */
        @Nullable
        Runnable release;

        Unrecorded(LeaseClaim claim, boolean isRestored, MonoSink<Boolean> answer) {
            this.claim = claim;
            this.isRestored = isRestored;
            this.answer = answer;
        }
    }

    /** A lease that had ended before the ledger answered about it; {@code release} releases its permits in the pool. */
    record Ended(String id, Runnable release) {}

    private final SliceAgent agent;
    private final Map<String, Unrecorded> unrecorded = new LinkedHashMap<>();
    private final Map<String, Integer> recorded = new HashMap<>();
    private int permits;

    /** Leases that have ended, which the ledger does not know yet. */
    private Set<String> unreleased = new HashSet<>();

    HostedLeases(SliceAgent agent) {
        this.agent = agent;
    }

    /** The permits of recorded leases, which the pool has in flight beside the slice. */
    int permits() {
        return permits;
    }

    /**
     * @param isRestored whether the pool has counted its permits although none were free: the slice need not have them yet
     * @param answer gets whether the ledger has recorded the lease; false when that has ended
     */
    void add(LeaseClaim claim, boolean isRestored, MonoSink<Boolean> answer) {
        unrecorded.put(claim.id(), new Unrecorded(claim, isRestored, answer));
    }

    boolean isRestoreUnrecorded() {
        return unrecorded.values().stream().anyMatch(each -> each.isRestored);
    }

    /**
     * To be called before each heartbeat: it will move those leases that fit into the slice.
     *
     * @param inUse the permits of the slice that are in use; exact if a restored lease is unrecorded
     */
    void move(long now, int inUse) {
        int slice = agent.slice(now);
        for (Unrecorded each : List.copyOf(unrecorded.values())) {
            LeaseClaim claim = each.claim;
            boolean isMoving = agent.isMoving(claim.id());
            boolean fits = claim.permits() <= slice - agent.moving() && (!each.isRestored || inUse <= slice);
            if (each.release != null && !isMoving) {
                unrecorded.remove(claim.id()); // the term in which it was on its way has ended
                each.release.run();
                each.answer.success(false);
            } else if (fits && !isMoving) {
                agent.granted(claim);
            }
        }
    }

    /**
     * The ledger has answered.
     *
     * @param moved of the answer
     * @return those that have ended here meanwhile
     */
    List<Ended> answered(List<LeaseClaim> moved) {
        List<Ended> ended = new ArrayList<>();
        List<Runnable> answers = new ArrayList<>();
        for (LeaseClaim lease : moved) {
            Unrecorded each = unrecorded.remove(lease.id());
            if (each == null) {
                continue;
            }
            boolean isRecorded = lease.token() > 0;
            if (isRecorded) {
                recorded.put(lease.id(), lease.permits());
                permits += lease.permits();
            }
            Runnable release = each.release;
            if (release != null) {
                ended.add(new Ended(lease.id(), release));
            }
            answers.add(() -> each.answer.success(isRecorded && release == null));
        }
        answers.forEach(Runnable::run);
        return ended;
    }

    /** The lease leaves the pool. Returns false, and {@code release} is kept, while a heartbeat that records it is on its way. */
    boolean remove(String id, Runnable release) {
        Unrecorded each = unrecorded.get(id);
        if (each != null && agent.isMoving(id)) {
            each.release = release;
            return false;
        }
        if (each != null) {
            unrecorded.remove(id);
            each.answer.success(false);
        }
        permits -= Objects.requireNonNullElse(recorded.remove(id), 0);
        agent.forget(id);
        return true;
    }

    /** The ledger could not be told that this lease has ended. */
    void releaseLater(String id) {
        unreleased.add(id);
    }

    /** Those of which the ledger is to be told now. */
    Set<String> unreleased() {
        Set<String> now = unreleased;
        unreleased = new HashSet<>();
        return now;
    }
}
