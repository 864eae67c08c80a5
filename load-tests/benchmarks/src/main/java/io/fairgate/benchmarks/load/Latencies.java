package io.fairgate.benchmarks.load;

import java.util.Arrays;

/** The latencies of requests, each of which is kept, so that percentiles are exact. */
public final class Latencies {

    private long[] nanos = new long[1024];
    private int count;
    private boolean isSorted;

    void add(long latency) {
        if (count == nanos.length) {
            nanos = Arrays.copyOf(nanos, 2 * count);
        }
        nanos[count++] = latency;
        isSorted = false;
    }

    public int count() {
        return count;
    }

    /**
     * The least latency, in milliseconds, that this share of the requests do not exceed; not a number without requests.
     */
    public double percentile(double percent) {
        if (count == 0) {
            return Double.NaN;
        }
        if (!isSorted) {
            Arrays.sort(nanos, 0, count);
            isSorted = true;
        }
        int rank = (int) Math.ceil(percent / 100 * count);
        return nanos[Math.max(rank, 1) - 1] / 1e6;
    }
}
