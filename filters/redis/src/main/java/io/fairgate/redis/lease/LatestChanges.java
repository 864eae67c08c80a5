package io.fairgate.redis.lease;

import io.fairgate.lease.LeaseId;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.core.scheduler.Scheduler;

/** The records that a gateway has changed last: a failover of Redis may lose them, and their holders were told of them. For any thread. */
final class LatestChanges {

    /** Beside the time that a failover may lose: for the call that notices it. */
    private static final Duration LONGER = Duration.ofSeconds(1);

    private record Changed(BookedLease lease, long at) {}

    private final Map<LeaseId, Changed> changes = new ConcurrentHashMap<>();
    private final long keptFor;
    private final Scheduler time;

    /** @param failover what a failover may lose at most */
    LatestChanges(Duration failover, Scheduler time) {
        this.keptFor = failover.plus(LONGER).toNanos();
        this.time = time;
    }

    void add(@Nullable BookedLease lease) {
        if (lease != null) {
            changes.put(lease.id(), new Changed(lease, now()));
        }
    }

    void remove(LeaseId id) {
        changes.remove(id);
    }

    /** Forgets those that no failover loses any more. */
    void forget() {
        long now = now();
        changes.values().removeIf(each -> now - each.at > keptFor);
    }

    List<BookedLease> all() {
        return changes.values().stream().map(Changed::lease).toList();
    }

    private long now() {
        return time.now(TimeUnit.NANOSECONDS);
    }
}
