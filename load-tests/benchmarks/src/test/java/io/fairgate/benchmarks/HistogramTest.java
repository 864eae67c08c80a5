package io.fairgate.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class HistogramTest {

    private static final int COUNT = 20_000;

    @Test
    void what_has_become_unreachable_is_not_counted() {
        List<Long> sizes = Stream.generate(() -> Histogram.of(HistogramTest::objects))
                .limit(8)
                .map(added -> added.total(type -> true))
                .toList();
        assertThat(sizes).allSatisfy(size -> assertThat(size).isBetween(16L * COUNT, 40L * COUNT));
    }

    private static List<Object> objects() {
        List<Object> objects = new ArrayList<>(COUNT);
        for (int i = 0; i < COUNT; i++) {
            objects.add(new Object());
        }
        return objects;
    }
}
