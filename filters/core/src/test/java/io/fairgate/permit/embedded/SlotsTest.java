package io.fairgate.permit.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SlotsTest {

    private static List<Waiter> takers(int count) {
        return Stream.generate(Waiters::create).limit(count).toList();
    }

    @Test
    void every_open_permit_can_be_taken_once_and_again_after_its_return() {
        Slots permits = new Slots(20);
        assertThat(permits.size()).isEqualTo(20);
        assertThat(permits.shut()).isEqualTo(20);
        assertThat(permits.take(Waiters.create())).isFalse();
        permits.open(5);
        assertThat(permits.shut()).isEqualTo(15);
        List<Waiter> takers = takers(6);
        assertThat(takers.stream().filter(permits::take)).containsExactlyElementsOf(takers.subList(0, 5));

        assertThat(permits.giveBack(takers.get(2))).isTrue();
        assertThat(permits.has(takers.get(2))).isFalse();
        assertThat(permits.giveBack(takers.get(2))).as("twice").isFalse();
        assertThat(permits.take(takers.get(5))).isTrue();
        assertThat(permits.has(takers.get(5))).isTrue();
    }

    @Test
    void closing_finds_every_taken_permit() {
        Slots permits = new Slots(4);
        permits.open(4);
        List<Waiter> takers = takers(3);
        takers.forEach(permits::take);
        List<Waiter> found = new ArrayList<>();
        permits.forEachTaken(found::add);
        assertThat(found).containsExactlyInAnyOrderElementsOf(takers);

        List<Waiter> told = new ArrayList<>();
        assertThat(permits.shutAll(told::add)).isOne();
        assertThat(told).containsExactlyInAnyOrderElementsOf(takers);
        assertThat(permits.shut()).isEqualTo(4);
        assertThat(permits.giveBack(takers.get(0))).as("once it is shut").isFalse();
        permits.forEachTaken(waiter -> assertThat(waiter).isNull());
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 15, 16, 17, 31, 40, 100, 1024})
    void every_open_permit_is_found_from_any_starting_point(int count) throws InterruptedException {
        for (int thread = 0; thread < 8; thread++) {
            Slots permits = new Slots(count);
            permits.open(count);
            List<Waiter> taken = new ArrayList<>();
            Thread taking = new Thread(
                    () -> takers(count + 1).stream().filter(permits::take).forEach(taken::add));
            taking.start();
            taking.join();
            assertThat(taken).hasSize(count);
        }
    }

    @Test
    void a_large_pool_has_a_bounded_number_of_cells() {
        assertThat(new Slots(1_000_000).size()).isEqualTo(Slots.MOST);
    }
}
