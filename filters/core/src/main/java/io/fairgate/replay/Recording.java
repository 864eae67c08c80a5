package io.fairgate.replay;

import io.fairgate.permit.PoolListener;
import io.fairgate.permit.PoolRequest;
import io.fairgate.permit.RefusalReason;
import io.fairgate.replay.Visit.Outcome;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import reactor.core.scheduler.Scheduler;

/**
 * Keeps the visits of a pool that ended last, as many as its size, and all that still hold permits. Any thread may call it; it has no
 * locks. A visit takes 64 bytes, and 4 bytes are reserved for each from the start.
 *
 * <p>Visits that have ended are in the order of their ends: so what is forgotten ended before all that is kept. Visits that hold permits are
 * in the order of their grants, until newer ones overtake them; those are kept aside.
 */
public final class Recording implements PoolListener {

    /** Older visits are not read. */
    public static final Duration LONGEST = Duration.ofMinutes(10);

    /** Visits with permits that are not kept aside yet. */
    private static final int MOST_HOLDING = 4096;

    private final Scheduler time;
    private final Ring ended;
    private final Ring granted;
    private final Set<Entry> overtaken = ConcurrentHashMap.newKeySet();
    /** What was recorded before this time is not read: other settings were in force. */
    private volatile long begin;

    /** The latest entries. */
    private static final class Ring {
        private final AtomicReferenceArray<@Nullable Entry> entries;
        private final AtomicLong added = new AtomicLong();

        Ring(int size) {
            entries = new AtomicReferenceArray<>(size);
        }

        /** Returns the entry that is forgotten for it. */
        @Nullable
        Entry add(Entry entry) {
            return entries.getAndSet((int) (added.getAndIncrement() % entries.length()), entry);
        }

        /** The oldest one when others were forgotten, otherwise null. */
        @Nullable
        Entry oldestOfMany() {
            long next = added.get();
            return next <= entries.length() ? null : entries.get((int) (next % entries.length()));
        }

        void copyTo(Set<Entry> all, Predicate<Entry> which) {
            long kept = Math.min(entries.length(), added.get());
            for (int i = 0; i < kept; i++) {
                Entry entry = entries.get(i);
                if (entry != null && which.test(entry)) {
                    all.add(entry);
                }
            }
        }
    }

    /** A visit that may go on. */
    private static final class Entry {
        private static final long HOLDS = -1;

        private final TenantId tenant;
        private final @Nullable String requestClass;
        private final int permits;
        private final @Nullable RefusalReason refusal;
        private final long askedAt;
        private final long waited;
        private final boolean isGranted;
        private volatile boolean isOvertaken;
        /** How long it held its permits, or {@link #HOLDS}; also for a visit without permits, which held them for no time. */
        private volatile long held;

        Entry(PoolRequest request, long now, long waited, boolean isGranted, @Nullable RefusalReason refusal) {
            this.tenant = request.tenant();
            this.requestClass = request.requestClass();
            this.permits = request.permits();
            this.refusal = refusal;
            this.askedAt = now - waited;
            this.waited = waited;
            this.isGranted = isGranted;
            this.held = isGranted ? HOLDS : 0;
        }

        boolean holds() {
            return held == HOLDS;
        }

        /** Only of one that has ended. */
        long endedAt() {
            return askedAt + waited + held;
        }

        Visit at(long now) {
            long until = held;
            Outcome outcome = refusal != null
                    ? Outcome.REFUSED
                    : !isGranted ? Outcome.LEFT : until == HOLDS ? Outcome.HOLDS : Outcome.SERVED;
            long hold = until == HOLDS ? Math.max(0, now - askedAt - waited) : until;
            return new Visit(tenant, requestClass, permits, askedAt, waited, hold, outcome, refusal);
        }
    }

    /**
     * What was recorded.
     *
     * @param from the begin of the time of which each visit is here, in nanoseconds of the pool's clock
     * @param to its end: before it was read by as long as the longest wait, because requests that still wait are not here; but not
     *     before the middle
     * @param visits in the order in which they asked; also those that asked before {@code from} and had not ended then, and those
     *     after {@code to}
     */
    public record Recorded(long from, long to, List<Visit> visits) {
        public Recorded {
            visits = List.copyOf(visits);
        }

        /** What each tenant got between the two times. */
        public Map<TenantId, TenantUse> uses() {
            return Tally.of(this);
        }
    }

    /**
     * What tenants got just now: of requests whose wait has ended, when it ended.
     *
     * @param seconds how long the time is
     * @param all all tenants together
     */
    public record Latest(double seconds, Map<TenantId, TenantUse> tenants, TenantUse all) {}

    /**
     * @param size how many visits are kept that have ended
     * @param time the clock of the pool
     * @throws IllegalArgumentException when the size is below 1
     */
    public Recording(int size, Scheduler time) {
        if (size < 1) {
            throw new IllegalArgumentException("size: %d (expected: >= 1)".formatted(size));
        }
        this.time = time;
        this.ended = new Ring(size);
        this.granted = new Ring(Math.min(size, MOST_HOLDING));
        this.begin = now();
    }

    private long now() {
        return time.now(TimeUnit.NANOSECONDS);
    }

    @Override
    public void granted(PoolRequest request, long waitedNanos) {
        Entry entry = new Entry(request, now(), waitedNanos, true, null);
        request.attach(entry);
        Entry last = granted.add(entry);
        if (last != null && last.holds()) {
            last.isOvertaken = true;
            overtaken.add(last);
            if (!last.holds()) {
                overtaken.remove(last);
            }
        }
    }

    @Override
    public void refused(PoolRequest request, RefusalReason reason, long waitedNanos) {
        ended.add(new Entry(request, now(), waitedNanos, false, reason));
    }

    @Override
    public void abandoned(PoolRequest request, long waitedNanos) {
        ended.add(new Entry(request, now(), waitedNanos, false, null));
    }

    @Override
    public void lost(PoolRequest request, long waitedNanos) {
        ended.add(new Entry(request, now(), waitedNanos, false, null));
    }

    @Override
    public void released(PoolRequest request, long heldNanos) {
        if (request.attachment() instanceof Entry entry) {
            entry.held = Math.max(0, heldNanos);
            ended.add(entry);
            if (entry.isOvertaken) {
                overtaken.remove(entry);
            }
        }
    }

    /** Forgets what was recorded until now, because the settings of the pool have changed. Holds that go on are kept. */
    public void beginAnew() {
        begin = now();
    }

    /** The visits of the latest time: of as much as is kept, and at most of {@code most}. Copies and sorts them. */
    public Recorded read(Duration most) {
        Set<Entry> entries = new HashSet<>();
        // In this order, because entries go from each one to the next.
        granted.copyTo(entries, Entry::holds);
        entries.addAll(overtaken);
        ended.copyTo(entries, entry -> true);
        Entry oldest = ended.oldestOfMany();
        long now = now();
        long kept = Math.max(begin, oldest == null ? begin : oldest.endedAt());
        long from = Math.max(kept, now - shorter(most, LONGEST).toNanos());
        List<Visit> visits = entries.stream()
                .map(entry -> entry.at(now))
                .filter(visit -> visit.endedAt() >= from && visit.askedAt() <= now)
                .sorted(Comparator.comparingLong(Visit::askedAt))
                .toList();
        long longestWait = visits.stream().mapToLong(Visit::waited).max().orElse(0);
        return new Recorded(from, Math.max(now - longestWait, from + (now - from) / 2), visits);
    }

    /** What tenants got in the latest time, until now: of as much as is kept, and at most of {@code most}. */
    public Latest latest(Duration most) {
        Recorded recorded = read(most);
        Recorded untilNow = new Recorded(recorded.from(), now(), recorded.visits());
        return new Latest(
                (untilNow.to() - untilNow.from()) / 1e9, Tally.of(untilNow, false), Tally.ofAll(untilNow, false));
    }

    private static Duration shorter(Duration a, Duration b) {
        return a.compareTo(b) < 0 ? a : b;
    }
}
