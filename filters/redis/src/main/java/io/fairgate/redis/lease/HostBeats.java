package io.fairgate.redis.lease;

import io.fairgate.lease.LeasesUnavailableException;
import io.fairgate.redis.lease.LeaseBook.Live;
import io.fairgate.redis.lease.LeaseBook.Mail;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;

/**
 * Tells the book ten times a second that this gateway lives, and when one of its leases is about to expire; and does what others have changed.
 * On one worker.
 */
final class HostBeats {

    static final Duration BEATS = Duration.ofMillis(100);

    /** How often the leases that wait here are looked at. */
    private static final long LOOKS = Duration.ofSeconds(1).toNanos();

    private final LeaseBook book;
    private final LocalLeases local;
    private final BookFollower follower;
    private final Expiries expiries;
    private final Scheduler time;
    private final Scheduler.Worker thread;

    private boolean isBeating;
    private boolean isBeatDue;
    private long epoch;

    /** Whether the book was out of reach: it may have taken this gateway for one that has ended. */
    private boolean isLost;

    private boolean isFollowing;

    /** What the book has told last, and what of it is done. */
    private List<Mail> mail = List.of();

    private final List<Mail> read = new ArrayList<>();

    /** Whether all leases here are to be looked at, and to be written again. */
    private boolean isNew;

    private boolean mayHaveLostWrites;

    /** When the leases that wait here were looked at. */
    private long looked;

    private volatile boolean takesLeases = true;

    /** Errors when the book cannot be reached. */
    private volatile Sinks.One<Boolean> loss = Sinks.one();

    HostBeats(
            LeaseBook book,
            LocalLeases local,
            BookFollower follower,
            Expiries expiries,
            Scheduler time,
            Scheduler.Worker thread) {
        this.book = book;
        this.expiries = expiries;
        this.local = local;
        this.follower = follower;
        this.time = time;
        this.thread = thread;
        this.looked = now();
    }

    private long now() {
        return time.now(TimeUnit.NANOSECONDS);
    }

    void start() {
        expiries.onExpiry(this::beat);
        run(this::again);
    }

    private void run(Runnable task) {
        if (!thread.isDisposed()) {
            var unused = thread.schedule(task);
        }
    }

    private void again() {
        beat();
        var unused = thread.schedule(this::again, BEATS.toNanos(), TimeUnit.NANOSECONDS);
    }

    /** Never emits, and errors with {@link LeasesUnavailableException} when the book cannot be reached. */
    Mono<Boolean> loss() {
        return Mono.defer(() -> loss.asMono());
    }

    private void beat() {
        if (isBeating) {
            isBeatDue = true;
            return;
        }
        isBeating = true;
        List<Mail> told = List.copyOf(read);
        book.live(told, takesLeases)
                .subscribe(live -> run(() -> answered(live, told)), failed -> run(() -> failed(failed)));
    }

    private void failed(Throwable why) {
        isLost = true;
        Sinks.One<Boolean> lost = loss;
        loss = Sinks.one();
        lost.tryEmitError(why instanceof LeasesUnavailableException ? why : new LeasesUnavailableException(why));
        ended();
    }

    private void answered(Live live, List<Mail> told) {
        mayHaveLostWrites |= epoch > 0 && book.epoch() > epoch;
        isNew |= !live.wasKnown() || isLost || mayHaveLostWrites;
        isLost = false;
        epoch = book.epoch();
        mail = live.mail();
        read.removeAll(told);
        ended();
        if (!isFollowing) {
            follow();
        }
    }

    private void ended() {
        isBeating = false;
        if (isBeatDue) {
            isBeatDue = false;
            beat();
        }
    }

    // ---- what others have changed ----

    /** Follows the book, beside the beats: other gateways must not take this one for one that has ended because it has much to do. */
    private void follow() {
        isFollowing = true;
        boolean isAll = isNew;
        boolean isAgain = mayHaveLostWrites;
        isNew = false;
        mayHaveLostWrites = false;
        Mono<Void> again = isAgain
                ? book.again(local.all().stream().map(HostedLease::known).toList())
                        .then(follower.extendAll())
                : Mono.empty();
        Mono<Void> all = isAll ? again.then(follower.followAll()) : Mono.empty();
        Mono<Void> each = follower.follow(mail)
                .doOnNext(done -> run(() -> read.add(done)))
                .then();
        Mono<Void> waiting = Mono.empty();
        if (now() - looked >= LOOKS) {
            looked = now();
            waiting = follower.followWaiting();
        }
        all.then(each)
                .then(follower.followDoubted())
                .then(waiting)
                .subscribe(
                        nothing -> {},
                        failed -> run(() -> {
                            isNew |= isAll;
                            mayHaveLostWrites |= isAgain;
                            isFollowing = false; // with the next beat again
                        }),
                        () -> run(() -> isFollowing = false));
    }

    /** This gateway takes no more leases of gateways that have ended. */
    void takeNoMore() {
        takesLeases = false;
    }

    /** No more beats. */
    void stop() {
        thread.dispose();
    }
}
