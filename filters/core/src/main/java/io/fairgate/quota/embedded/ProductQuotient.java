package io.fairgate.quota.embedded;

import io.fairgate.quota.Quota;

/**
 * {@code factor * other / divisor}, exact although the product needs up to 103 bits.
 *
 * <p>Long division with digits of 7 bits: a remainder is below {@link #MAX_DIVISOR}, so that it and the next digit's product
 * fit into 63 bits together. Six digits hold the largest limit. {@code BigInteger} would do the same with several
 * allocations for each decision.
 *
 * @param whole the quotient rounded down; {@code Long.MAX_VALUE} (with remainder 0) when it is larger than that
 * @param remainder 0 to {@code divisor - 1}
 */
record ProductQuotient(long whole, long remainder) {

    /** 2^55, above the nanoseconds of 366 days. */
    static final long MAX_DIVISOR = 1L << 55;

    /** 2^42 - 1, above {@link Quota#MAX_LIMIT}. */
    static final long MAX_FACTOR = (1L << 42) - 1;

    private static final int DIGIT_BITS = 7;
    private static final int HIGHEST_SHIFT = 35;
    private static final ProductQuotient TOO_LARGE = new ProductQuotient(Long.MAX_VALUE, 0);

    /**
     * @param factor 0 to {@link #MAX_FACTOR}
     * @param other 0 or more
     * @param divisor 1 to {@link #MAX_DIVISOR}
     */
    static ProductQuotient of(long factor, long other, long divisor) {
        if (factor < 0 || factor > MAX_FACTOR || other < 0 || divisor < 1 || divisor > MAX_DIVISOR) {
            throw new IllegalArgumentException("%d * %d / %d (expected: 0 to %d, 0 or more, 1 to %d)"
                    .formatted(factor, other, divisor, MAX_FACTOR, MAX_DIVISOR));
        }
        // other = divisor * n + rest, so that only factor * rest has to be divided.
        long n = other / divisor;
        long rest = other % divisor;
        long quotient = 0;
        long remainder = 0;
        for (int shift = HIGHEST_SHIFT; shift >= 0; shift -= DIGIT_BITS) {
            long digit = (factor >>> shift) & ((1 << DIGIT_BITS) - 1);
            long dividend = (remainder << DIGIT_BITS) + digit * rest;
            quotient = (quotient << DIGIT_BITS) + dividend / divisor;
            remainder = dividend % divisor;
        }
        // The quotient so far is at most the factor, because rest < divisor: only factor * n can be too large.
        boolean tooLarge =
                Math.multiplyHigh(factor, n) != 0 || factor * n < 0 || factor * n > Long.MAX_VALUE - quotient;
        return tooLarge ? TOO_LARGE : new ProductQuotient(factor * n + quotient, remainder);
    }
}
