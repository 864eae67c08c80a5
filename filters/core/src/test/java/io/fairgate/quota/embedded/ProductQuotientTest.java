package io.fairgate.quota.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.quota.Quota;
import java.math.BigInteger;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ProductQuotientTest {

    @Test
    void the_quotient_equals_that_of_big_integers() {
        Random random = new Random(1);
        for (int i = 0; i < 200_000; i++) {
            long factor = random.nextLong() >>> (22 + random.nextInt(42));
            long other = random.nextLong() >>> (1 + random.nextInt(63));
            long divisor = Math.max(1, random.nextLong() >>> (9 + random.nextInt(55)));
            agrees(factor, other, divisor);
        }
    }

    @Test
    void the_quotient_is_exact_for_the_largest_operands() {
        long[] factors = {0, 1, 127, 128, Quota.MAX_LIMIT, Long.MAX_VALUE};
        long[] others = {0, 1, (1L << 55) - 1, Long.MAX_VALUE - 1, Long.MAX_VALUE};
        long[] divisors = {1, 2, Quota.MAX_LIMIT, (1L << 55) - 1, 1L << 55, Long.MAX_VALUE};
        for (long factor : factors) {
            for (long other : others) {
                for (long divisor : divisors) {
                    agrees(factor, other, divisor);
                }
            }
        }
    }

    private static void agrees(long factor, long other, long divisor) {
        BigInteger[] exact = BigInteger.valueOf(factor)
                .multiply(BigInteger.valueOf(other))
                .divideAndRemainder(BigInteger.valueOf(divisor));
        boolean fits = exact[0].bitLength() < 64;
        ProductQuotient expected = fits
                ? new ProductQuotient(exact[0].longValueExact(), exact[1].longValueExact())
                : new ProductQuotient(Long.MAX_VALUE, 0);
        assertThat(ProductQuotient.of(factor, other, divisor))
                .as("%d * %d / %d", factor, other, divisor)
                .isEqualTo(expected);
    }
}
