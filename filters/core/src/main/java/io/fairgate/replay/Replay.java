package io.fairgate.replay;

import io.fairgate.permit.HeldPermits;
import io.fairgate.permit.PermitRefusedException;
import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.PoolListener;
import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.RefusalReason;
import io.fairgate.permit.embedded.EmbeddedPermitPool;
import io.fairgate.replay.Recording.Recorded;
import io.fairgate.replay.Session.Step;
import io.fairgate.replay.Visit.Outcome;
import io.fairgate.replay.WhatIf.Rules;
import io.fairgate.tenant.TenantId;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;

/** Has the clients of a recording ask a pool with certain settings, in virtual time. */
final class Replay {

    /** A client that is served at once by a pool without holds would never come to an end. */
    private static final long SHORTEST_PAUSE = 1_000;

    private static final long UNLIMITED = Long.MAX_VALUE;
    private static final long LATE = 100_000_000;

    private final Recorded recorded;
    private final VirtualTime time;
    private final EmbeddedPermitPool pool;
    private final long maxHold;
    private final long longestThen;
    private final Tally tally;
    private final Set<Request> unanswered = new LinkedHashSet<>();
    private long asked;

    private Replay(Recorded recorded, Rules rules, long maxHoldThen) {
        this.recorded = recorded;
        this.time = new VirtualTime(recorded.from());
        PoolSettings unbounded = rules.pool().withMaxHold(PoolSettings.MAX_DURATION);
        this.pool = new EmbeddedPermitPool("replay", unbounded, rules.shares(), time, PoolListener.NONE);
        this.maxHold = rules.pool().maxHold().toNanos();
        // The timer of a bound is a little late.
        this.longestThen = maxHoldThen + Math.max(maxHoldThen / 10, LATE);
        this.tally = new Tally(recorded.from(), recorded.to());
    }

    /**
     * What each tenant gets.
     *
     * @param maxHoldThen the longest hold when the requests were recorded, in nanoseconds: those that were held for longer had a bound of
     *     their own
     * @throws TooManyRequestsException when the clients would send more requests than {@link WhatIf#MOST_REQUESTS}
     */
    static Map<TenantId, TenantUse> run(Recorded recorded, List<Session> sessions, Rules rules, long maxHoldThen) {
        return new Replay(recorded, rules, maxHoldThen).run(sessions);
    }

    private Map<TenantId, TenantUse> run(List<Session> sessions) {
        sessions.stream()
                .sorted(Comparator.comparingLong(Session::start))
                .forEach(session -> time.at(session.start(), () -> new Request(session, 0, session.start()).ask()));
        time.runUntil(recorded.to());
        // Those that still wait count as waiting: their wait ends after the replay.
        List.copyOf(unanswered).forEach(request -> request.count(Outcome.HOLDS, null, recorded.to()));
        return tally.uses();
    }

    /** One request of a session. */
    private final class Request {
        private final Session session;
        private final int number;
        private final Step step;
        private final long askedAt;
        private long waitedUntil;
        private boolean isHolding;
        private @Nullable Disposable waiting;

        /** @param askedAt when the client sent it: before the replay begins, if it waited or held permits then */
        Request(Session session, int number, long askedAt) {
            this.session = session;
            this.number = number;
            this.step = session.steps().get(number);
            this.askedAt = askedAt;
        }

        void ask() {
            if (++asked > WhatIf.MOST_REQUESTS) {
                throw new TooManyRequestsException(WhatIf.MOST_REQUESTS);
            }
            unanswered.add(this);
            waitedUntil = UNLIMITED;
            PermitRequest request = PermitRequest.of(session.tenant())
                    .withPermits(step.permits())
                    .withClass(session.requestClass());
            waiting = pool.acquire(request).subscribe(this::begin, this::fail);
            if (step.patience() != UNLIMITED) {
                time.at(time.now() + step.patience(), this::leave);
            }
        }

        private void begin(HeldPermits permits) {
            waitedUntil = time.now();
            isHolding = true;
            long hold = step.hold() > longestThen ? step.hold() : Math.min(step.hold(), maxHold);
            if (hold != UNLIMITED) {
                time.at(waitedUntil + hold, () -> end(permits));
            }
        }

        private void end(HeldPermits permits) {
            permits.release();
            count(Outcome.SERVED, null, time.now());
            goOn(0);
        }

        private void fail(Throwable failure) {
            if (!(failure instanceof PermitRefusedException refused)) {
                throw new IllegalStateException(failure);
            }
            waitedUntil = time.now();
            count(Outcome.REFUSED, refused.reason(), waitedUntil);
            goOn(session.pauseAfterRefusal());
        }

        private void leave() {
            if (waiting != null && !waiting.isDisposed() && !isHolding) {
                waiting.dispose();
                waitedUntil = time.now();
                count(Outcome.LEFT, null, waitedUntil);
                goOn(0);
            }
        }

        /** The client sends its next request after its pause, which is at least as long as this. */
        private void goOn(long least) {
            boolean isLast = number + 1 == session.steps().size();
            if (isLast && !session.isRepeated()) {
                return;
            }
            int next = isLast ? 0 : number + 1;
            long pause = session.steps().get(Math.max(1, next)).pause();
            long at = time.now() + Math.max(SHORTEST_PAUSE, Math.max(least, pause));
            if (at < session.end()) {
                time.at(at, () -> new Request(session, next, at).ask());
            }
        }

        void count(Outcome outcome, @Nullable RefusalReason refusal, long until) {
            unanswered.remove(this);
            tally.add(new Visit(
                    session.tenant(),
                    session.requestClass(),
                    step.permits(),
                    askedAt,
                    waitedUntil - askedAt,
                    isHolding ? until - waitedUntil : 0,
                    outcome,
                    refusal));
        }
    }
}
