package io.fairgate.quota.embedded;

import io.fairgate.quota.Quota;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigInteger;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ProductQuotientTest {

    @Test
    void the_quotient_equals_that_of_big_integers() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int i = 0; i < 200_000; i++) {
            long factor = random.nextLong() >>> (22 + random.nextInt(42));
            long other = random.nextLong() >>> (1 + random.nextInt(63));
            long divisor = Math.max(1, random.nextLong() >>> (9 + random.nextInt(55)));
            agrees(factor, other, divisor, "seed " + seed);
        }
    }

    @Test
    void the_quotient_is_exact_for_the_largest_operands() {
        long[] factors = {0, 1, 127, 128, Quota.MAX_LIMIT, ProductQuotient.MAX_FACTOR};
        long[] others = {0, 1, ProductQuotient.MAX_DIVISOR - 1, Long.MAX_VALUE - 1, Long.MAX_VALUE};
        long[] divisors = {1, 2, Quota.MAX_LIMIT, ProductQuotient.MAX_DIVISOR - 1, ProductQuotient.MAX_DIVISOR};
        for (long factor : factors) {
            for (long other : others) {
                for (long divisor : divisors) {
                    agrees(factor, other, divisor, "ends");
                }
            }
        }
    }

    @Test
    void operands_that_could_overflow_are_refused() {
        assertThatThrownBy(() -> ProductQuotient.of(ProductQuotient.MAX_FACTOR + 1, 1, 1))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> ProductQuotient.of(1, -1, 1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> ProductQuotient.of(1, 1, ProductQuotient.MAX_DIVISOR + 1))
                .isInstanceOf(IllegalArgumentException.class);
    }

    private static void agrees(long factor, long other, long divisor, String what) {
        BigInteger[] exact = BigInteger.valueOf(factor)
                .multiply(BigInteger.valueOf(other))
                .divideAndRemainder(BigInteger.valueOf(divisor));
        boolean fits = exact[0].bitLength() < 64;
        ProductQuotient expected = fits
                ? new ProductQuotient(exact[0].longValueExact(), exact[1].longValueExact())
                : new ProductQuotient(Long.MAX_VALUE, 0);
        assertThat(ProductQuotient.of(factor, other, divisor))
                .as("%s: %d * %d / %d", what, factor, other, divisor)
                .isEqualTo(expected);
    }
}
