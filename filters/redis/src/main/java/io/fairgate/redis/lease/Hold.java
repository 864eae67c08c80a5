package io.fairgate.redis.lease;

import io.fairgate.lease.LeaseGoneException;
import io.fairgate.lease.LeaseId;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * Permits that a lease gets from the pools of this gateway all together: first it waits for them, then it has a claim for each pool. In the pools it is
 * a lease of its own, so that nothing that is said of an earlier one is taken for it.
 *
 * <p>For any thread. Either it leaves, or its permits are claimed and paid: whichever comes first.
 */
final class Hold {

    final HostedLease lease;
    final LeaseId inPools = LeaseId.random();
    final Map<String, Integer> permits;

    /** By pool. Guarded by this, as all that follows. */
    private final Map<String, Claim> claims = new TreeMap<>();

    /** How many claims have not released their permits in the pools yet. */
    private int unreleased;

    private boolean isClaimed;
    private boolean isPaid;
    private boolean hasLeft;
    private @Nullable Throwable why;
    private boolean isBringing;
    private Mono<Void> brought = Mono.empty();

    /** Errors when it leaves before it is paid. */
    private final Sinks.Empty<Void> interrupted = Sinks.empty();

    Hold(HostedLease lease, Map<String, Integer> permits) {
        this.lease = lease;
        this.permits = Map.copyOf(permits);
    }

    /**
     * It waits no longer. If its permits are claimed and not paid yet, the payment ends with an error.
     *
     * @param because what the calls that wait get; null when they get false
     * @return false when its permits are claimed
     */
    boolean leave(@Nullable Throwable because) {
        synchronized (this) {
            if (isPaid || hasLeft) {
                return !isClaimed;
            }
            hasLeft = true;
            why = because;
            if (!isClaimed) {
                return true;
            }
        }
        interrupted.tryEmitError(new LeaseGoneException(lease.id));
        return false;
    }

    /** Makes the payment of permits that are claimed. Errors with {@link LeaseGoneException} when it has left before the end. */
    Mono<Void> pay(Mono<Void> payment) {
        return Mono.defer(() -> hasLeft()
                        ? Mono.<Void>error(new LeaseGoneException(lease.id))
                        : Mono.firstWithSignal(payment, interrupted.asMono()))
                .then(Mono.defer(() -> {
                    synchronized (this) {
                        isPaid = !hasLeft;
                        return isPaid ? Mono.empty() : Mono.error(new LeaseGoneException(lease.id));
                    }
                }));
    }

    synchronized boolean isClaimed() {
        return isClaimed;
    }

    /** The pools have granted the permits; false when it has left. From then on they are being brought into the ledgers and the book. */
    synchronized boolean claim(List<Claim> granted) {
        if (hasLeft || isClaimed) {
            return false;
        }
        isClaimed = true;
        isBringing = true;
        granted.forEach(claim -> claims.put(claim.pool(), claim));
        unreleased = claims.size();
        return true;
    }

    /** The permits of one claim are released in its pool. True for the last one: until then the others are in flight. */
    synchronized boolean released() {
        unreleased--;
        return unreleased == 0;
    }

    synchronized boolean hasLeft() {
        return hasLeft;
    }

    synchronized @Nullable Throwable why() {
        return why;
    }

    synchronized boolean isWaiting() {
        return !hasLeft && !isClaimed;
    }

    synchronized List<Claim> claims() {
        return List.copyOf(claims.values());
    }

    /** True once for each claim. */
    synchronized boolean remove(Claim claim) {
        return claims.remove(claim.pool(), claim);
    }

    synchronized boolean isOver() {
        return isClaimed && claims.isEmpty() && !isBringing;
    }

    /** Brings what the pools have decided into the book, also when no call waits for that. */
    void bring(Mono<Void> decision) {
        Mono<Void> once = decision.doFinally(end -> isBrought()).cache();
        synchronized (this) {
            isBringing = true;
            brought = once;
        }
        var unused = once.subscribe(nothing -> {}, failed -> {});
    }

    private synchronized void isBrought() {
        isBringing = false;
    }

    synchronized boolean isBringing() {
        return isBringing;
    }

    /** Completes when the book has what the pools have decided; errors when that was in vain. */
    Mono<Void> brought() {
        return Mono.defer(() -> {
            synchronized (this) {
                return brought;
            }
        });
    }
}
