package io.fairgate.redis.quota;

import io.fairgate.quota.QuotaDecision;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * Units of a set of quotas that are charged before requests ask for them, so that most requests are decided without a call to Redis.
 *
 * <p>One call charges a {@link Chunk}: what the requests of a second use, but at most a sixteenth of what is left of each quota. So a
 * gateway has little at hand when little is left, and near the limit each request is charged by itself. What is not used within
 * a second is given back.
 *
 * <p>For any thread. No call is sent under the lock.
 */
final class PrepaidUnits {

    /** How long units may be at hand. */
    static final Duration LONGEST = Duration.ofSeconds(1);

    /** With fewer requests in a second, each one is charged by itself. */
    static final int FEWEST_REQUESTS = 8;

    /** After two chunks that were not worth it, or one that was refused. */
    static final Duration PAUSE = Duration.ofSeconds(5);

    final KeyedQuotas keyed;
    final RedisQuotas backend;
    /** Whether a chunk is closed also when all of it was used, so that its units come back from then on. */
    private final boolean hasRate;

    // Guarded by this.
    private final UnitDemand demand;
    /** In the order of their charges. */
    private final List<Chunk> chunks = new ArrayList<>();
    /** Not closed yet. */
    private final List<Chunk> ended = new ArrayList<>();

    private boolean isAsking;
    private long pausesUntil;
    /** How many chunks in a row; one may have been charged just before the end of a window. */
    private int notWorthIt;

    PrepaidUnits(KeyedQuotas keyed, RedisQuotas backend) {
        this.hasRate = keyed.inOrder.stream().anyMatch(KeyedQuota::isRate);
        this.keyed = keyed;
        this.backend = backend;
        this.demand = new UnitDemand(backend.now());
        this.pausesUntil = backend.now();
    }

    /** A request asks for units. */
    synchronized void asked(long units) {
        demand.add(units, backend.now());
    }

    /** The chunk whose units the caller uses now; null when there are not so many. To be followed by {@link #tend}, without a lock. */
    synchronized @Nullable Chunk take(long units) {
        long now = backend.now();
        for (Chunk chunk : chunks) {
            if (chunk.take(units, now)) {
                return chunk;
            }
        }
        return null;
    }

    /** What a request would get that asks for so many units now; null when there are not so many. Uses none. */
    synchronized @Nullable QuotaDecision decision(long units) {
        long now = backend.now();
        for (Chunk chunk : chunks) {
            if (chunk.left(now) >= units) {
                return chunk.decision();
            }
        }
        return null;
    }

    /** Corrects the charge of a request that has used units of a chunk; below 0 to put some back. */
    Mono<Void> settle(Chunk used, long more) {
        List<String> marks;
        synchronized (this) {
            if (more < 0 && used.putBack(-more)) {
                return Mono.empty();
            }
            marks = used.marks();
        }
        return settle(marks, more);
    }

    /**
     * Corrects a charge.
     *
     * @param marks of the charge
     * @param more the units to charge, below 0 to give some back
     */
    Mono<Void> settle(List<String> marks, long more) {
        if (more > 0 && marks.stream().noneMatch(String::isEmpty) && take(more) != null) {
            tend();
            return Mono.empty();
        }
        Settlement call = new Settlement(keyed, marks, more, Sinks.empty());
        backend.calls.submit(call);
        return call.done.asMono();
    }

    /** After a request: charges the next chunk in time. What has ended before is closed in the same batch. */
    void tend() {
        List<QuotaCall> calls;
        synchronized (this) {
            Prepayment next = next();
            if (next == null) {
                return;
            }
            calls = closeEnded();
            calls.add(next);
        }
        backend.calls.submit(calls);
    }

    private @Nullable Prepayment next() {
        long now = backend.now();
        long left = left(now);
        if (!isWorthIt(now) || 2 * left >= full(now)) {
            return null;
        }
        isAsking = true;
        return new Prepayment(demand.units(now), demand.unitsOf(Chunk.FEWEST_REQUESTS, now));
    }

    /** A chunk has ended with the time; then no request may follow. */
    private void closeInTime(Chunk chunk) {
        List<QuotaCall> calls;
        synchronized (this) {
            if (chunk.isClosed()) {
                return;
            }
            left(backend.now());
            calls = closeEnded();
        }
        backend.calls.submit(calls);
    }

    /** How many units are at hand. Ends chunks that have none. */
    private long left(long now) {
        long sum = 0;
        for (int i = chunks.size() - 1; i >= 0; i--) {
            long left = chunks.get(i).left(now);
            sum += left;
            if (left == 0) {
                end(chunks.remove(i), now);
            }
        }
        return sum;
    }

    private void end(Chunk chunk, long now) {
        ended.add(chunk);
        notWorthIt = chunk.wasNotWorthIt(now) ? notWorthIt + 1 : 0;
        if (notWorthIt >= 2) {
            pausesUntil = now + PAUSE.toNanos();
        }
    }

    private boolean isWorthIt(long now) {
        return demand.requests(now) >= FEWEST_REQUESTS && now - pausesUntil >= 0 && !isAsking && backend.isPrepaying();
    }

    /** With half of this, the next chunk is charged. */
    private long full(long now) {
        long wanted = demand.units(now);
        return chunks.isEmpty()
                ? wanted
                : Math.min(wanted, chunks.get(chunks.size() - 1).units());
    }

    private List<QuotaCall> closeEnded() {
        List<QuotaCall> calls = new ArrayList<>();
        for (Chunk chunk : ended) {
            chunk.close();
            if (hasRate || chunk.unused() > 0) {
                calls.add(new Closing(chunk));
            }
        }
        ended.clear();
        if (chunks.isEmpty()) {
            backend.holders.remove(this);
        }
        return calls;
    }

    /** Gives all units back. */
    void end() {
        List<QuotaCall> calls;
        synchronized (this) {
            ended.addAll(chunks);
            chunks.clear();
            calls = closeEnded();
        }
        backend.calls.submit(calls);
    }

    private final class Prepayment extends QuotaCall {

        private final long least;
        private long sentNanos;

        Prepayment(long most, long least) {
            super(What.PREPAY, PrepaidUnits.this.keyed, most);
            this.least = least;
        }

        @Override
        long least() {
            return least;
        }

        @Override
        void sending() {
            sentNanos = backend.now();
        }

        @Override
        void answered(QuotaAnswer answer) {
            if (answer.charged() == 0) {
                pause();
            } else {
                charged(new Chunk(PrepaidUnits.this, answer, sentNanos, LONGEST.toNanos()));
            }
        }

        @Override
        void failed(Throwable why, boolean isSent, boolean isOutage) {
            pause();
        }
    }

    private final class Closing extends QuotaCall {

        private final Chunk chunk;
        private final List<String> marks;

        Closing(Chunk chunk) {
            super(What.CLOSE, PrepaidUnits.this.keyed, -chunk.unused());
            this.chunk = chunk;
            this.marks = chunk.marks();
        }

        @Override
        String mark(int quota) {
            return marks.get(quota);
        }

        @Override
        void answered(QuotaAnswer answer) {
            synchronized (PrepaidUnits.this) {
                chunk.closed(answer.marks());
            }
        }

        /** Redis ends the chunk of a rate by itself; the other quotas keep it charged. */
        @Override
        void failed(Throwable why, boolean isSent, boolean isOutage) {}
    }

    private synchronized void pause() {
        isAsking = false;
        pausesUntil = backend.now() + PAUSE.toNanos();
    }

    private void charged(Chunk chunk) {
        synchronized (this) {
            isAsking = false;
            chunks.add(chunk);
            backend.holders.add(this);
        }
        long nanos = chunk.endNanos() - backend.now();
        if (nanos <= 0 || !backend.isPrepaying()) {
            end();
        } else {
            Disposable timer = backend.time.schedule(() -> closeInTime(chunk), nanos, TimeUnit.NANOSECONDS);
            synchronized (this) {
                chunk.setTimer(timer);
            }
        }
    }
}
