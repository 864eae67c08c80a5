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
import org.jspecify.annotations.Nullable;
import reactor.core.scheduler.Scheduler;

/**
 * Keeps the latest visits of a pool: as many as its size, none older than {@link #LONGEST}, and all that still hold permits. It
 * takes some 60 bytes for each, and as much for each request. Any thread may call it; it has no locks.
 *
 * <p>A visit is added when it is granted, refused, or left. One that newer visits have overtaken while it holds permits is kept aside,
 * and is added again when it ends.
 */
public final class Recording implements PoolListener {

    /** Older visits are not read. */
    public static final Duration LONGEST = Duration.ofMinutes(10);

    private final Scheduler time;
    private final long startedAt;
    private final AtomicReferenceArray<@Nullable Entry> ring;
    private final AtomicLong added = new AtomicLong();
    private final Set<Entry> overtaken = ConcurrentHashMap.newKeySet();

    /** A visit that may go on. */
    private static final class Entry {
        private static final long HOLDS = -1;

        private final TenantId tenant;
        private final @Nullable String requestClass;
        private final int permits;
        private final @Nullable RefusalReason refusal;
        private final long askedAt;
        private final long waited;
        /** How long it held its permits, or {@link #HOLDS}; also for a visit without permits, which held them for no time. */
        private volatile long held;

        private final boolean isGranted;
        /** When it was put into the ring the last time. */
        private long addedAt;

        Entry(PoolRequest request, long now, long waited, boolean isGranted, @Nullable RefusalReason refusal) {
            this.tenant = request.tenant();
            this.requestClass = request.requestClass();
            this.permits = request.permits();
            this.refusal = refusal;
            this.askedAt = now - waited;
            this.waited = waited;
            this.isGranted = isGranted;
            this.held = isGranted ? HOLDS : 0;
            this.addedAt = now;
        }

        boolean holds() {
            return held == HOLDS;
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
     * @param to its end: before it was read by as long as the longest wait, because requests that still wait are not here
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

        /** What all tenants together got between the two times. */
        public TenantUse all() {
            return Tally.ofAll(this);
        }
    }

    /**
     * @param size how many visits are kept
     * @param time the clock of the pool
     * @throws IllegalArgumentException when the size is below 1
     */
    public Recording(int size, Scheduler time) {
        if (size < 1) {
            throw new IllegalArgumentException("size: %d (expected: >= 1)".formatted(size));
        }
        this.time = time;
        this.ring = new AtomicReferenceArray<>(size);
        this.startedAt = now();
    }

    private long now() {
        return time.now(TimeUnit.NANOSECONDS);
    }

    @Override
    public void granted(PoolRequest request, long waitedNanos) {
        Entry entry = new Entry(request, now(), waitedNanos, true, null);
        request.attach(entry);
        add(entry);
    }

    @Override
    public void refused(PoolRequest request, RefusalReason reason, long waitedNanos) {
        add(new Entry(request, now(), waitedNanos, false, reason));
    }

    @Override
    public void abandoned(PoolRequest request, long waitedNanos) {
        add(new Entry(request, now(), waitedNanos, false, null));
    }

    @Override
    public void lost(PoolRequest request, long waitedNanos) {
        add(new Entry(request, now(), waitedNanos, false, null));
    }

    @Override
    public void released(PoolRequest request, long heldNanos) {
        if (request.attachment() instanceof Entry entry) {
            entry.held = Math.max(0, heldNanos);
            addAgain(entry);
        }
    }

    private void add(Entry entry) {
        Entry last = ring.getAndSet((int) (added.getAndIncrement() % ring.length()), entry);
        if (last != null && last.holds()) {
            overtaken.add(last);
            if (!last.holds()) {
                addAgain(last);
            }
        }
    }

    private void addAgain(Entry ended) {
        if (overtaken.remove(ended)) {
            ended.addedAt = now();
            add(ended);
        }
    }

    /** The visits of the latest time: of as much as is kept, and at most of {@code most}. Copies and sorts them. */
    public Recorded read(Duration most) {
        long kept = Math.min(ring.length(), added.get());
        Set<Entry> entries = new HashSet<>((int) (2 * kept));
        for (int i = 0; i < kept; i++) {
            Entry entry = ring.get(i);
            if (entry != null) {
                entries.add(entry);
            }
        }
        entries.addAll(overtaken);
        long now = now();
        long from = Math.max(completeSince(), now - shorter(most, LONGEST).toNanos());
        List<Visit> visits = entries.stream()
                .map(entry -> entry.at(now))
                .filter(visit -> visit.endedAt() >= from && visit.askedAt() <= now)
                .sorted(Comparator.comparingLong(Visit::askedAt))
                .toList();
        long longestWait = visits.stream().mapToLong(Visit::waited).max().orElse(0);
        return new Recorded(from, Math.max(now - longestWait, from + (now - from) / 2), visits);
    }

    private static Duration shorter(Duration a, Duration b) {
        return a.compareTo(b) < 0 ? a : b;
    }

    /** Each visit that was added since then is still kept. */
    private long completeSince() {
        long next = added.get();
        if (next <= ring.length()) {
            return startedAt;
        }
        Entry oldest = ring.get((int) (next % ring.length()));
        return oldest == null ? startedAt : oldest.addedAt;
    }
}
