package io.fairgate.gateway;

import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Work of an upstream that does not notice closed connections. It measures when it worked for which tenant, and counts its
 * concurrent work.
 */
final class MeasuredWork {

    /**
     * One request, or the work of one lease.
     *
     * @param permits how many permits it needs
     * @param from on the clock of {@link System#nanoTime}
     */
    record Piece(String tenant, int permits, long from, long to) {

        /** Permit-nanoseconds between two moments. */
        long within(long begin, long end) {
            return permits * Math.max(0, Math.min(to, end) - Math.max(from, begin));
        }
    }

    private final Queue<Piece> pieces = new ConcurrentLinkedQueue<>();
    private final Map<String, AtomicInteger> begun = new ConcurrentHashMap<>();
    private final AtomicInteger now = new AtomicInteger();
    private final AtomicInteger highest = new AtomicInteger();
    private final CountDownLatch end = new CountDownLatch(1);

    /** Answers requests of this tenant, each after this many milliseconds. */
    ScriptedUpstream.Script of(String tenant, int millis) {
        return exchange -> {
            work(tenant, 1, millis);
            ScriptedUpstream.OK.answer(exchange);
        };
    }

    /** Works for this many milliseconds, or until {@link #end}. */
    void work(String tenant, int permits, int millis) throws InterruptedException {
        highest.accumulateAndGet(now.addAndGet(permits), Math::max);
        begun.computeIfAbsent(tenant, name -> new AtomicInteger()).incrementAndGet();
        long from = System.nanoTime();
        try {
            var unused = end.await(millis, TimeUnit.MILLISECONDS);
        } finally {
            pieces.add(new Piece(tenant, permits, from, System.nanoTime()));
            now.addAndGet(-permits);
        }
    }

    /** Work is done at once from now on. */
    void end() {
        end.countDown();
    }

    int begun(String tenant) {
        AtomicInteger count = begun.get(tenant);
        return count == null ? 0 : count.get();
    }

    /** The most permits that were needed at once. */
    int highest() {
        return highest.get();
    }

    /** The beginnings of this tenant's completed pieces of work, in order. */
    List<Long> begins(String tenant) {
        return pieces.stream()
                .filter(piece -> piece.tenant().equals(tenant))
                .map(Piece::from)
                .sorted()
                .toList();
    }

    /** The part of this many permits that completed work of this tenant needed between two moments. */
    double share(String tenant, int permits, long begin, long end) {
        long used = pieces.stream()
                .filter(piece -> piece.tenant().equals(tenant))
                .mapToLong(piece -> piece.within(begin, end))
                .sum();
        return (double) used / permits / (end - begin);
    }
}
