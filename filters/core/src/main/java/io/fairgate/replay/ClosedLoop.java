package io.fairgate.replay;

import java.util.Arrays;
import java.util.List;
import java.util.PriorityQueue;
import java.util.stream.IntStream;

/**
 * Whether requests follow answers, or come by themselves: whether the clients are a closed system or an open one (Schroeder, Wierman,
 * Harchol-Balter, "Open Versus Closed: A Cautionary Tale", NSDI 2006).
 *
 * <p>Connections do not tell, because behind a proxy the requests of any client come on any of them. The times do, in two ways:
 *
 * <ul>
 *   <li>The gap between an answer and the next request is short in relation to the time between two requests. When requests come by
 *       themselves, a gap is about as long as that time.
 *   <li>The number of requests in the pool is steady, because it is at most the number of clients. When requests come by themselves,
 *       its variance is at least about its mean, as in a Poisson process. Refusals keep the number steady as well, and so do requests
 *       at a constant rate: there only the gaps count.
 * </ul>
 */
final class ClosedLoop {

    /** The gap of a request that followed no end of another one. */
    static final long NO_GAP = -1;

    /** Requests follow answers when this part of them comes within a quarter of the usual time between two requests. */
    private static final double MOST = 0.6;
    /** Neighbours, on each side, from which the usual time between requests is taken; and how many gaps it takes to tell. */
    private static final int NEAR = 8;

    private ClosedLoop() {}

    /**
     * @param visits in the order in which they asked
     * @param gaps for each of them, the time since the latest end that no other one followed; or {@link #NO_GAP}
     */
    static boolean isClosed(List<Visit> visits, long[] gaps) {
        long[] between = between(visits);
        boolean isRegular = isRegular(visits);
        int matched = 0;
        int soon = 0;
        for (int i = 0; i < visits.size(); i++) {
            if (gaps[i] != NO_GAP) {
                matched++;
                soon += gaps[i] <= between[i] / (isRegular ? 10 : 4) ? 1 : 0;
            }
        }
        return matched >= NEAR && (soon >= MOST * matched || !isRegular && isSeldomRefused(visits) && isSteady(visits));
    }

    /** The usual time between two requests, around each of them. */
    private static long[] between(List<Visit> visits) {
        long[] between = new long[visits.size()];
        for (int i = 0; i < visits.size(); i++) {
            int first = Math.max(0, i - NEAR);
            int last = Math.min(visits.size() - 1, i + NEAR);
            between[i] = (visits.get(last).askedAt() - visits.get(first).askedAt()) / Math.max(1, last - first);
        }
        return between;
    }

    /** Whether requests come at a constant rate: then they are regular in relation to anything else that is. */
    private static boolean isRegular(List<Visit> visits) {
        double[] between = IntStream.range(1, visits.size())
                .mapToDouble(i -> visits.get(i).askedAt() - visits.get(i - 1).askedAt())
                .toArray();
        Spread spread = Spread.of(between);
        return Math.sqrt(spread.variance()) < spread.mean() / 3;
    }

    /** Refusals bound the number of requests in the pool, whatever clients do. */
    private static boolean isSeldomRefused(List<Visit> visits) {
        return visits.stream().filter(visit -> !visit.isGranted()).count() < visits.size() / 10.0;
    }

    private record Spread(double mean, double variance) {

        static Spread of(double[] values) {
            double mean = Arrays.stream(values).average().orElse(0);
            double variance = Arrays.stream(values)
                    .map(value -> (value - mean) * (value - mean))
                    .average()
                    .orElse(0);
            return new Spread(mean, variance);
        }
    }

    /** In most parts of the time: clients may come and go. */
    private static boolean isSteady(List<Visit> visits) {
        int parts = Math.max(1, Math.min(20, visits.size() / 50));
        int steady = 0;
        for (int part = 0; part < parts; part++) {
            int first = part * visits.size() / parts;
            int last = (part + 1) * visits.size() / parts;
            double[] inPool = new double[last - first];
            PriorityQueue<Long> ends = new PriorityQueue<>();
            for (int i = 0; i < last; i++) {
                long asked = visits.get(i).askedAt();
                while (!ends.isEmpty() && ends.element() <= asked) {
                    ends.remove();
                }
                if (i >= first) {
                    inPool[i - first] = ends.size();
                }
                ends.add(visits.get(i).endedAt());
            }
            Spread spread = Spread.of(inPool);
            steady += spread.variance() < spread.mean() / 2 ? 1 : 0;
        }
        return 2 * steady > parts;
    }
}
