package io.fairgate.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class HistogramTest {

    private static final int SIZE = 1_000_000;

    @Test
    void what_others_release_meanwhile_is_not_subtracted() {
        AtomicReference<byte[]> ofOthers = new AtomicReference<>(new byte[5 * SIZE]);
        Histogram added = Histogram.of(() -> {
            ofOthers.set(null);
            return new byte[SIZE];
        });
        assertThat(added.total(type -> true)).isBetween((long) SIZE, 2L * SIZE);
    }

    @Test
    void what_others_add_meanwhile_is_not_counted() {
        AtomicReference<byte[]> ofOthers = new AtomicReference<>();
        Histogram added = Histogram.of(() -> {
            if (ofOthers.get() == null) {
                ofOthers.set(new byte[5 * SIZE]);
            }
            return new byte[SIZE];
        });
        assertThat(added.total(type -> true)).isBetween((long) SIZE, 2L * SIZE);
    }
}
