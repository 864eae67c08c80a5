package io.fairgate.gateway.lease;

import io.fairgate.lease.LeaseId;
import java.time.Duration;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.core.scheduler.Scheduler;

/**
 * Leases that are over, with what a repeated call is told: for ten minutes, and of so many that the oldest may have to go
 * sooner. From any thread; the lock is held for a few steps.
 */
final class EndedLeases {

    private static final long REMEMBERED = Duration.ofMinutes(10).toNanos();

    private final int most;
    private final Scheduler time;
    /** In the order in which they ended. Guarded by this. */
    private final Map<LeaseId, Ended> ended = new LinkedHashMap<>();

    private record Ended(Throwable told, long at) {}

    EndedLeases(int most, Scheduler time) {
        this.most = most;
        this.time = time;
    }

    synchronized void put(LeaseId id, Throwable told) {
        long now = now();
        ended.remove(id);
        ended.put(id, new Ended(told, now));
        Iterator<Ended> oldest = ended.values().iterator();
        while (oldest.hasNext()) {
            boolean isOld = now - oldest.next().at >= REMEMBERED;
            if (!isOld && ended.size() <= most) {
                return;
            }
            oldest.remove();
        }
    }

    /** What is told of it; null when it is not among them. */
    synchronized @Nullable Throwable get(LeaseId id) {
        Ended found = ended.get(id);
        return found == null || now() - found.at >= REMEMBERED ? null : found.told;
    }

    private long now() {
        return time.now(TimeUnit.NANOSECONDS);
    }
}
