package io.fairgate.quota.embedded;

import io.fairgate.quota.Quota;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;

/**
 * The definition of a rate, taken literally: in any interval of length t at most burst + limit * t / per units.
 *
 * <p>It remembers every admitted request and checks every interval that ends now, with big integers. It has no bucket and no
 * theoretical arrival time, and so shares nothing with the code under test.
 */
final class SlidingLog {
    /** One request, and its units that were not given back. */
    private record Admitted(long nanos, long units) {}

    private final Quota.Rate rate;
    private final List<Admitted> admitted = new ArrayList<>();

    SlidingLog(Quota.Rate rate) {
        this.rate = rate;
    }

    void admit(long nanos, long units) {
        admitted.add(new Admitted(nanos, units));
    }

    /** Units that the request with this number, counted from 0, gave back count as never admitted. */
    void settle(int request, long units) {
        admitted.set(request, new Admitted(admitted.get(request).nanos, units));
    }

    /** The units that every interval still allows. */
    long remaining(long nanos) {
        BigInteger per = BigInteger.valueOf(rate.per().toNanos());
        BigInteger burst = BigInteger.valueOf(rate.burst()).multiply(per);
        BigInteger least = burst;
        BigInteger used = BigInteger.ZERO;
        for (int i = admitted.size() - 1; i >= 0; i--) {
            Admitted first = admitted.get(i);
            used = used.add(BigInteger.valueOf(first.units).multiply(per));
            BigInteger returned = BigInteger.valueOf(rate.limit())
                    .multiply(BigInteger.valueOf(nanos).subtract(BigInteger.valueOf(first.nanos)));
            least = least.min(burst.add(returned).subtract(used));
        }
        if (least.signum() < 0) {
            throw new AssertionError("%s admitted too much by %d ns: %s".formatted(rate, nanos, admitted));
        }
        return least.divide(per).longValueExact();
    }
}
