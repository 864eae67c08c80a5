package io.fairgate.replay;

import io.fairgate.permit.RefusalReason;
import io.fairgate.replay.Recording.Recorded;
import io.fairgate.replay.Session.Step;
import io.fairgate.replay.Visit.Outcome;
import io.fairgate.tenant.TenantId;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * Makes sessions from visits. Each request is matched with the latest end of a request before it that is not matched yet. The
 * requests that are matched one after the other make the sessions of one client, if the requests of the tenant follow answers ({@link
 * ClosedLoop}). Otherwise each request is a session of its own. Classes of requests within a tenant are looked at one by one.
 */
final class Clients {

    /** A longer pause begins a new session, which does not depend on the answer before. */
    private static final long LONGEST_PAUSE = 1_000_000_000;

    private static final long UNLIMITED = Long.MAX_VALUE;

    /** A client's requests so far. */
    private static final class Chain {
        private final List<Visit> visits = new ArrayList<>();

        Visit last() {
            return visits.get(visits.size() - 1);
        }

        long end() {
            return last().endedAt();
        }
    }

    private final Recorded recorded;
    private final long maxWait;
    private final Random random = new Random(1);
    /** Of all tenants, for those of which no hold is known. */
    private final long[] allHolds;

    /** @param maxWait the bound of the pool at the time of the recording, in nanoseconds */
    Clients(Recorded recorded, long maxWait) {
        this.recorded = recorded;
        this.maxWait = maxWait;
        long[] all = ended(recorded.visits());
        this.allHolds = all.length > 0 ? all : new long[] {0};
    }

    /** A tenant, and a class of its requests. */
    record Source(TenantId tenant, @Nullable String requestClass) {}

    /**
     * What the clients of a tenant, and of one class, do.
     *
     * @param likely the sessions as they are most likely
     * @param otherwise what they are if requests follow answers in the place of coming by themselves, or the other way round; the same as
     *     {@code likely} when that is clear
     */
    record Behaviour(TenantId tenant, ClientKind kind, List<Session> likely, List<Session> otherwise) {}

    List<Behaviour> behaviours() {
        Map<Source, List<Visit>> bySource = new LinkedHashMap<>();
        for (Visit visit : recorded.visits()) {
            bySource.computeIfAbsent(new Source(visit.tenant(), visit.requestClass()), s -> new ArrayList<>())
                    .add(visit);
        }
        return bySource.entrySet().stream()
                .map(entry -> behaviour(entry.getKey(), entry.getValue()))
                .toList();
    }

    Behaviour behaviour(Source source, List<Visit> visits) {
        List<Chain> chains = chains(visits);
        ClosedLoop loop = ClosedLoop.of(visits, followers(chains), recorded.to() - recorded.from());
        long[] holds = holds(visits);
        List<Session> likely = sessions(loop.isLikely(), source, visits, chains, holds);
        List<Session> otherwise =
                loop.kind() == ClientKind.UNCLEAR ? sessions(!loop.isLikely(), source, visits, chains, holds) : likely;
        return new Behaviour(source.tenant(), loop.kind(), likely, otherwise);
    }

    /** When those asked that have another one before them in their session. */
    private static long[] followers(List<Chain> chains) {
        LongStream.Builder asks = LongStream.builder();
        for (Chain chain : chains) {
            for (int i = 1; i < chain.visits.size(); i++) {
                if (!isLong(chain.visits.get(i - 1), chain.visits.get(i))) {
                    asks.add(chain.visits.get(i).askedAt());
                }
            }
        }
        return asks.build().sorted().toArray();
    }

    private List<Session> sessions(
            boolean followAnswers, Source source, List<Visit> visits, List<Chain> chains, long[] holds) {
        if (followAnswers) {
            long pause = pauseAfterRefusal(chains);
            return chains.stream()
                    .flatMap(chain -> sessions(source, chain, holds, pause).stream())
                    .toList();
        }
        return visits.stream()
                .map(visit -> session(source, List.of(visit), holds, 0))
                .toList();
    }

    /** Matches each request with the latest end that is not matched yet. */
    private static List<Chain> chains(List<Visit> visits) {
        List<Chain> chains = new ArrayList<>();
        Deque<Chain> idle = new ArrayDeque<>();
        PriorityQueue<Chain> busy = new PriorityQueue<>(Comparator.comparingLong(Chain::end));
        for (Visit visit : visits) {
            while (!busy.isEmpty() && busy.element().end() <= visit.askedAt()) {
                idle.push(busy.remove());
            }
            Chain chain = idle.poll();
            if (chain == null) {
                chain = new Chain();
                chains.add(chain);
            }
            chain.visits.add(visit);
            if (visit.outcome() != Outcome.HOLDS) {
                busy.add(chain);
            }
        }
        return chains;
    }

    private static long median(long[] values) {
        return LongStream.of(values)
                .sorted()
                .skip(values.length / 2)
                .findFirst()
                .orElse(0);
    }

    /** The holds that are known, sorted. */
    private long[] holds(List<Visit> visits) {
        long[] own = ended(visits);
        return own.length > 0 ? own : allHolds;
    }

    private static long[] ended(List<Visit> visits) {
        return visits.stream()
                .filter(visit -> visit.outcome() == Outcome.SERVED)
                .mapToLong(Visit::held)
                .sorted()
                .toArray();
    }

    /** The usual time from a refusal to the next request of its client. */
    private static long pauseAfterRefusal(List<Chain> chains) {
        LongStream.Builder pauses = LongStream.builder();
        for (Chain chain : chains) {
            for (int i = 1; i < chain.visits.size(); i++) {
                Visit before = chain.visits.get(i - 1);
                if (before.outcome() == Outcome.REFUSED) {
                    pauses.add(chain.visits.get(i).askedAt() - before.endedAt());
                }
            }
        }
        long[] known = pauses.build().toArray();
        return known.length == 0 ? LONGEST_PAUSE : median(known);
    }

    /** A chain, divided at long pauses. */
    private List<Session> sessions(Source source, Chain chain, long[] holds, long pause) {
        List<Session> sessions = new ArrayList<>();
        List<Visit> together = new ArrayList<>();
        for (Visit visit : chain.visits) {
            if (!together.isEmpty() && isLong(together.get(together.size() - 1), visit)) {
                sessions.add(session(source, together, holds, pause));
                together.clear();
            }
            together.add(visit);
        }
        sessions.add(session(source, together, holds, pause));
        return sessions;
    }

    private static boolean isLong(Visit before, Visit next) {
        return next.askedAt() - before.endedAt() > Math.max(LONGEST_PAUSE, before.waited() + before.held());
    }

    private Session session(Source source, List<Visit> visits, long[] holds, long pauseAfterRefusal) {
        List<Step> steps = new ArrayList<>();
        Visit before = null;
        for (Visit visit : visits) {
            long pause = before == null ? 0 : Math.max(0, visit.askedAt() - before.endedAt());
            steps.add(new Step(visit.permits(), pause, hold(visit, holds), patience(visit)));
            before = visit;
        }
        Visit first = visits.get(0);
        Visit last = visits.get(visits.size() - 1);
        return new Session(
                source.tenant(), source.requestClass(), first.askedAt(), end(last), steps, pauseAfterRefusal);
    }

    /**
     * When the client of a last request stops. It has not sent another one after that, so it has stopped at some time before the end of
     * that request: about in the middle. A client that had its answer at the end of the recording goes on.
     */
    private long end(Visit last) {
        return last.endedAt() < recorded.to() ? last.askedAt() + (last.endedAt() - last.askedAt()) / 2 : Long.MAX_VALUE;
    }

    /**
     * The hold of a request, without what was over at the begin of the recording. One that is not known is drawn from the others; one
     * that goes on for longer than all others has no end.
     */
    private long hold(Visit visit, long[] holds) {
        if (visit.outcome() == Outcome.SERVED) {
            return visit.endedAt() - Math.max(visit.waitedUntil(), recorded.from());
        }
        boolean isLongest = visit.isGranted() && visit.held() > holds[holds.length - 1];
        return isLongest ? UNLIMITED : holds[random.nextInt(holds.length)];
    }

    /** A request that was refused before the bound of the pool had a bound of its own. */
    private long patience(Visit visit) {
        boolean wasImpatient = visit.outcome() == Outcome.LEFT
                || (visit.refusal() == RefusalReason.MAX_WAIT && visit.waited() < maxWait - maxWait / 10);
        return wasImpatient ? visit.waited() : UNLIMITED;
    }
}
