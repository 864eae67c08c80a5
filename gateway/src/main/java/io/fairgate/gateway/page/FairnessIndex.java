package io.fairgate.gateway.page;

import io.fairgate.status.PoolStatus;
import io.fairgate.status.PoolStatus.TenantStatus;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How equal the parts of their shares are that tenants get while they wait: Jain's index (Jain, Chiu, Hawe, DEC-TR-301, 1984) over the
 * states of a pool in the latest minute. It is 1 when all get the same part, and 1/n when one of n tenants gets everything. A tenant that
 * does not wait wants no more than it has, and does not count.
 *
 * <p>Not thread-safe.
 */
final class FairnessIndex {

    private static final long SPAN = Duration.ofMinutes(1).toNanos();
    /** A tenant counts that has waited in so many states: permits in flight are whole, and shares are not. */
    private static final int LEAST_STATES = 10;

    private final Deque<State> states = new ArrayDeque<>();

    private record State(long at, Map<TenantId, Part> waiting) {}

    private record Part(int states, double permits, double share) {
        Part plus(Part other) {
            return new Part(states + other.states, permits + other.permits, share + other.share);
        }
    }

    /** @param now in nanoseconds */
    void add(long now, PoolStatus pool) {
        Map<TenantId, Part> waiting = new HashMap<>();
        for (TenantStatus tenant : pool.tenants()) {
            if (tenant.waiting() > 0 && tenant.share() > 0) {
                waiting.put(tenant.tenant(), new Part(1, tenant.inFlight(), tenant.share()));
            }
        }
        states.add(new State(now, waiting));
        while (now - states.getFirst().at > SPAN) {
            states.removeFirst();
        }
    }

    /** Null while fewer than two tenants have waited for long enough. */
    @Nullable
    Double value() {
        Map<TenantId, Part> sums = new HashMap<>();
        states.forEach(state -> state.waiting.forEach((tenant, part) -> sums.merge(tenant, part, Part::plus)));
        double[] parts = sums.values().stream()
                .filter(sum -> sum.states >= LEAST_STATES)
                .mapToDouble(sum -> sum.permits / sum.share)
                .toArray();
        double sum = 0;
        double squares = 0;
        for (double part : parts) {
            sum += part;
            squares += part * part;
        }
        return parts.length < 2 || squares == 0 ? null : sum * sum / (parts.length * squares);
    }
}
