package io.fairgate.quota.embedded;

import java.math.BigInteger;

/**
 * {@code factor * other / divisor}, exact although the product may not fit into a {@code long}.
 *
 * @param whole the quotient rounded down; {@code Long.MAX_VALUE} (with remainder 0) when it is larger than that
 * @param remainder 0 to {@code divisor - 1}
 */
record ProductQuotient(long whole, long remainder) {

    /** None of the arguments may be negative, nor the divisor 0. */
    static ProductQuotient of(long factor, long other, long divisor) {
        long product = factor * other;
        if (Math.multiplyHigh(factor, other) == 0 && product >= 0) {
            return new ProductQuotient(product / divisor, product % divisor);
        }
        BigInteger[] exact = BigInteger.valueOf(factor)
                .multiply(BigInteger.valueOf(other))
                .divideAndRemainder(BigInteger.valueOf(divisor));
        return exact[0].bitLength() < Long.SIZE
                ? new ProductQuotient(exact[0].longValue(), exact[1].longValue())
                : new ProductQuotient(Long.MAX_VALUE, 0);
    }
}
