package io.fairgate.fairness;

import io.fairgate.tenant.TenantId;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One request for permits, from its arrival until it gives them back. A request is its own link in the queue that it
 * waits in: leaving the queue takes constant time, and queueing allocates nothing.
 *
 * <p>Except for the constructor's arguments, all of its state belongs to the thread that drives the scheduler.
 */
public abstract class QueuedRequest {

    private final TenantId tenant;
    private final @Nullable String requestClass;
    private final int permits;

    /** The leaf at which the request waits, or whose permits it holds; null before it has waited. */
    @Nullable
    SchedulingNode leaf;

    @Nullable
    QueuedRequest previous;

    @Nullable
    QueuedRequest next;

    Place place = Place.OUTSIDE;
    long queuedAt;
    long grantedAt;
    /** The number of its grant; the grants of a pool are numbered in their order. */
    long grant;
    /** How many collections for this request have ended without a grant. */
    int failedCollections;

    /** The state of the request in the scheduler. It only moves forward. */
    enum Place {
        OUTSIDE,
        WAITING,
        HOLDING,
        GONE
    }

    /**
     * @param requestClass the class of the request within its tenant; null, or one that is not configured, for none
     * @throws IllegalArgumentException when {@code permits} is below 1
     */
    protected QueuedRequest(TenantId tenant, @Nullable String requestClass, int permits) {
        if (permits < 1) {
            throw new IllegalArgumentException("permits: %d (expected: >= 1)".formatted(permits));
        }
        this.tenant = Objects.requireNonNull(tenant, "tenant");
        this.requestClass = requestClass;
        this.permits = permits;
    }

    public final TenantId tenant() {
        return tenant;
    }

    public final @Nullable String requestClass() {
        return requestClass;
    }

    public final int permits() {
        return permits;
    }

    final SchedulingNode leaf() {
        return Objects.requireNonNull(leaf, "a request that never waited");
    }

    /** Whether the scheduler has not seen it yet. */
    public final boolean isNew() {
        return place == Place.OUTSIDE;
    }

    /** Whether the scheduler has it in a queue. */
    public final boolean isWaiting() {
        return place == Place.WAITING;
    }

    /** Whether the scheduler counts its permits as in flight. */
    public final boolean isHolding() {
        return place == Place.HOLDING;
    }

    /**
     * The scheduler is about to grant the permits.
     *
     * @return false when the permits are not wanted any more; the request then leaves the queue
     */
    protected abstract boolean accept();
}
