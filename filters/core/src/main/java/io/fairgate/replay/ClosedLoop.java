package io.fairgate.replay;

import io.fairgate.replay.Visit.Outcome;
import java.util.Arrays;
import java.util.List;
import java.util.PriorityQueue;
import java.util.stream.IntStream;

/**
 * Whether requests follow answers, or come by themselves: whether the clients are a closed system or an open one (Schroeder, Wierman,
 * Harchol-Balter, "Open Versus Closed: A Cautionary Tale", NSDI 2006).
 *
 * <p>Connections do not tell, because behind a proxy the requests of any client come on any of them. The times do: if requests follow
 * answers, there is one more request in a short time after an answer than in the same time before it, for each answer. If they come by
 * themselves, there are as many before as after. This is the cross-correlogram with which neurophysiology finds out which neuron drives
 * another one (Perkel, Gerstein, Moore, "Neuronal Spike Trains and Stochastic Point Processes II", 1967).
 *
 * <p>The time is at most half of a usual response: before an answer by as much as that, its own request was sent. It is at most a 200th of
 * the recording as well: with that, the chance error of the difference is about a tenth. Clients pause for times that are not known, so some
 * shorter times are tried too, and the largest difference counts.
 *
 * <p>Answers that a busy pool gives at regular times hide clients that pause for long. But the number of requests in the pool is steady if
 * there are only so many clients. This does not prove that there are: a queue near its bound is steady as well. So then it is unclear. It
 * is also unclear when many are refused, because clients wait for a while after a refusal. Requests at a constant rate are regular in
 * relation to anything else that is: they follow answers only if they do so within a 20th of the time between two of them.
 *
 * @param isLikely whether it is more likely that they follow answers
 */
record ClosedLoop(ClientKind kind, boolean isLikely) {

    /** Requests follow answers when there are more of them than this in the time after an answer, by each answer. */
    private static final double MANY = 0.5;
    /** They come by themselves when it is fewer than this. */
    private static final double FEW = 0.2;
    /** It takes so many answers to tell. */
    private static final int ENOUGH = 20;

    private static final int PARTS_OF_RECORDING = 200;
    private static final int PARTS_OF_PERIOD = 20;

    /**
     * @param visits in the order in which they asked
     * @param asks when those asked that may have followed an answer, sorted: without those that are the first ones of their clients. Many
     *     of these at once would count before many answers
     * @param length of the recording, in nanoseconds
     */
    static ClosedLoop of(List<Visit> visits, long[] asks, long length) {
        List<Visit> answered = visits.stream()
                .filter(visit -> visit.outcome() != Outcome.HOLDS)
                .toList();
        if (answered.size() < ENOUGH) {
            return new ClosedLoop(ClientKind.COME_ANYWAY, false);
        }
        Spread between = between(visits);
        boolean isRegular = Math.sqrt(between.variance()) < between.mean() / 3;
        double following = isRegular
                ? followingWithin(asks, answered, (long) between.mean() / PARTS_OF_PERIOD)
                : following(asks, answered, length);
        boolean isSeldomRefused =
                visits.stream().filter(visit -> !visit.isGranted()).count() < visits.size() / 10.0;
        if (following > MANY) {
            return new ClosedLoop(ClientKind.WAIT_FOR_ANSWERS, true);
        }
        boolean isSteady = isSteady(visits);
        return following < FEW && !isRegular && isSeldomRefused && !isSteady
                ? new ClosedLoop(ClientKind.COME_ANYWAY, false)
                : new ClosedLoop(ClientKind.UNCLEAR, !isRegular && isSeldomRefused && isSteady);
    }

    /** How many more requests come after an answer than before it. */
    private static double following(long[] asks, List<Visit> answered, long length) {
        long[] responses = answered.stream()
                .mapToLong(visit -> visit.endedAt() - visit.askedAt())
                .sorted()
                .toArray();
        long longest = Math.min(responses[responses.length / 2] / 2, length / PARTS_OF_RECORDING);
        return IntStream.of(1, 4, 16, 64)
                .mapToDouble(part -> followingWithin(asks, answered, longest / part))
                .max()
                .orElse(0);
    }

    private static double followingWithin(long[] asks, List<Visit> answered, long near) {
        long more = 0;
        for (Visit visit : answered) {
            long end = visit.endedAt();
            more += count(asks, end + 1, end + near) - count(asks, end - near, end - 1);
        }
        return (double) more / answered.size();
    }

    /** How many of the sorted times are in an interval, with both ends. */
    private static int count(long[] sorted, long from, long to) {
        return firstFrom(sorted, to + 1) - firstFrom(sorted, from);
    }

    private static int firstFrom(long[] sorted, long from) {
        int low = 0;
        int high = sorted.length;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (sorted[middle] < from) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    private static Spread between(List<Visit> visits) {
        return Spread.of(IntStream.range(1, visits.size())
                .mapToDouble(i -> visits.get(i).askedAt() - visits.get(i - 1).askedAt())
                .toArray());
    }

    /** Whether the number of requests in the pool is steadier than that of random requests that are served at once, mostly. */
    private static boolean isSteady(List<Visit> visits) {
        int parts = Math.max(1, Math.min(20, visits.size() / 50));
        double[] inPool = new double[visits.size()];
        PriorityQueue<Long> ends = new PriorityQueue<>();
        for (int i = 0; i < visits.size(); i++) {
            long asked = visits.get(i).askedAt();
            while (!ends.isEmpty() && ends.element() <= asked) {
                ends.remove();
            }
            inPool[i] = ends.size();
            ends.add(visits.get(i).endedAt());
        }
        int steady = 0;
        for (int part = 0; part < parts; part++) {
            int first = (int) ((long) part * visits.size() / parts);
            int last = (int) ((part + 1L) * visits.size() / parts);
            Spread spread = Spread.of(Arrays.copyOfRange(inPool, first, last));
            steady += spread.variance() < spread.mean() / 2 ? 1 : 0;
        }
        return 2 * steady > parts;
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
}
