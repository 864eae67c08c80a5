package io.fairgate.redis.lease;

import io.fairgate.lease.LeaseGoneException;
import io.fairgate.lease.LeaseId;
import io.fairgate.lease.LeaseRequest;
import io.fairgate.lease.LeaseStatus;
import io.fairgate.lease.LeaseUnpaidException;
import io.fairgate.lease.Leases;
import io.fairgate.permit.PermitRefusedException;
import io.fairgate.permit.RefusalReason;
import io.fairgate.redis.lease.BookedLease.Refusal;
import io.fairgate.redis.lease.BookedLease.Wait;
import io.fairgate.redis.lease.LeaseBook.Found;
import io.fairgate.redis.lease.LeaseBook.Place;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;

/**
 * The calls that acquire permits for leases: each writes in the book that the lease waits, and waits with it, in the pools of this process or,
 * if another one hosts the lease, for the answer that this brings into the book. For any thread.
 */
final class Acquisitions {

    private final LeaseBook book;
    private final LeaseRules rules;
    private final LocalLeases local;
    private final BookFollower follower;
    private final HostBeats beats;
    private final Scheduler time;
    private final Sinks.Empty<Boolean> ended = Sinks.empty();

    Acquisitions(
            LeaseBook book,
            LeaseRules rules,
            LocalLeases local,
            BookFollower follower,
            HostBeats beats,
            Scheduler time) {
        this.book = book;
        this.rules = rules;
        this.local = local;
        this.follower = follower;
        this.beats = beats;
        this.time = time;
    }

    /** Calls that wait error from now on. */
    void end() {
        ended.tryEmitEmpty();
    }

    /** As {@link Leases#acquire} says. */
    Mono<Boolean> acquire(LeaseId id, LeaseRequest request, Function<LeaseStatus, @Nullable Mono<Void>> payment) {
        return Detached.call(book.read(id).flatMap(found -> asked(id, found, request, payment)))
                .flatMap(asked -> waitFor(asked, request));
    }

    /**
     * A lease after a request.
     *
     * @param lacking the permits that it does not hold yet
     * @param hold what waits for them in the pools of this process; null when it waits elsewhere
     */
    private record Asked(
            BookedLease lease,
            Map<String, Integer> lacking,
            @Nullable Mono<Void> payment,
            @Nullable Hold hold) {}

    private Mono<Asked> asked(
            LeaseId id, Found found, LeaseRequest request, Function<LeaseStatus, @Nullable Mono<Void>> payment) {
        BookedLease lease = found.lease();
        if (lease == null) {
            return Mono.error(new LeaseGoneException(id));
        }
        Mono<Void> toPay = payment.apply(lease.status(found.clock()));
        Map<String, Integer> lacking = LeaseRules.lacking(lease, request);
        Wait waiting = lease.waiting();
        BookedLease asked;
        if (lacking.isEmpty()) {
            return Mono.just(new Asked(lease, lacking, null, null));
        } else if (waiting == null) {
            lacking.keySet().forEach(rules::requirePool);
            asked = rules.requested(lease, request, lacking, book.gateway(), found.clock());
        } else if (waiting.permits().equals(lacking)) {
            asked = rules.asked(lease, request, found.clock());
        } else {
            return Mono.error(new IllegalStateException("lease %s already waits for %s, and cannot also wait for %s"
                    .formatted(id, waiting.permits(), lacking)));
        }
        if (asked.equals(lease)) {
            return Mono.just(waiting(lease, lacking, toPay));
        }
        return book.change(asked, waiting != null ? Place.KEPT : Place.NEW)
                .doOnError(unknown -> {
                    local.pay(id, toPay); // the change may have been made
                    follower.doubt(id);
                })
                .flatMap(change -> {
                    BookedLease now = change.found().lease();
                    if (!change.isDone() || now == null) {
                        return asked(id, change.found(), request, payment);
                    }
                    if (isHere(now)) {
                        local.hosted(now);
                    }
                    local.knows(now, change.found().clock());
                    return Mono.just(waiting(now, lacking, toPay));
                });
    }

    private Asked waiting(BookedLease lease, Map<String, Integer> lacking, @Nullable Mono<Void> toPay) {
        if (isHere(lease)) {
            local.pay(lease.id(), toPay);
        }
        return new Asked(lease, lacking, toPay, begin(lease));
    }

    private boolean isHere(BookedLease lease) {
        return lease.host().equals(book.gateway());
    }

    /** Begins to wait in the pools of this process for what the lease waits for here; null when it does not. */
    @Nullable
    Hold begin(BookedLease lease) {
        Wait wait = lease.waiting();
        if (wait == null || !isHere(lease)) {
            return null;
        }
        Hold hold = local.begin(lease, wait);
        local.keep(lease, book.clock());
        return hold;
    }

    private Mono<Boolean> waitFor(Asked asked, LeaseRequest request) {
        BookedLease lease = asked.lease();
        Wait wait = lease.waiting();
        if (asked.lacking().isEmpty() || wait == null) {
            return Mono.just(asked.lacking().isEmpty());
        }
        Hold hold = asked.hold();
        Mono<Boolean> answer = hold != null
                ? local.acquire(hold, lease, wait, request.answerWithin())
                : elsewhere(asked, wait, now() + request.answerWithin().toNanos());
        Mono<Boolean> end = ended.asMono().switchIfEmpty(Mono.error(() -> new LeaseGoneException(lease.id())));
        return Mono.firstWithSignal(answer, beats.loss(), end);
    }

    private long now() {
        return time.now(TimeUnit.NANOSECONDS);
    }

    /** The lease waits at another process. If that ends, this one may become the host, and then the payment is needed here. */
    private Mono<Boolean> elsewhere(Asked asked, Wait wait, long until) {
        LeaseId id = asked.lease().id();
        return Mono.defer(() -> {
                    local.pay(id, asked.payment());
                    return look(id, wait, asked.lacking(), until);
                })
                .doFinally(how -> local.withdraw(id, asked.payment()));
    }

    /** Looks for the answer that the host of the lease brings into the book. */
    private Mono<Boolean> look(LeaseId id, Wait wait, Map<String, Integer> lacking, long until) {
        Duration pause = Duration.ofNanos(Math.min(until - now(), HostBeats.BEATS.toNanos()));
        if (pause.isNegative() || pause.isZero()) {
            return Mono.just(false);
        }
        return Mono.delay(pause, time).then(book.read(id)).flatMap(found -> {
            BookedLease lease = found.lease();
            if (lease == null) {
                return Mono.error(new LeaseGoneException(id));
            }
            if (lacking.keySet().stream().allMatch(lease::isHeldOf)) {
                return Mono.just(true);
            }
            Refusal refusal = lease.refusal();
            if (refusal != null && refusal.since() == wait.since()) {
                if (refusal.isUnpaid()) {
                    return Mono.error(new LeaseUnpaidException(id));
                }
                return Mono.error(new PermitRefusedException(
                        refusal.pool(),
                        lease.tenant(),
                        RefusalReason.valueOf(refusal.reason()),
                        Duration.ofMillis(found.clock() - wait.since())));
            }
            return lease.waiting() == null ? Mono.just(false) : look(id, wait, lacking, until);
        });
    }
}
