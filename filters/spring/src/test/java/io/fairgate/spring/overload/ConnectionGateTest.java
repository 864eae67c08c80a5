package io.fairgate.spring.overload;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** How many new connections an overloaded gateway serves. */
class ConnectionGateTest {

    private static final long MILLISECOND = Duration.ofMillis(1).toNanos();

    private final ConnectionGate gate = new ConnectionGate();
    private long now;

    /** Of a connection in each millisecond of a second, while the gate is told the same all the time. */
    private int opened(boolean areLate, boolean haveRoom) {
        int opened = 0;
        for (int i = 0; i < 1000; i++) {
            now += MILLISECOND;
            gate.measured(now, areLate, haveRoom);
            opened += gate.opens(now) ? 1 : 0;
        }
        return opened;
    }

    @Test
    void it_opens_to_few_connections_while_the_loops_are_late() {
        assertThat(opened(true, false)).isBetween(49, 51);
    }

    @Test
    void it_opens_to_more_and_more_while_the_loops_have_room() {
        opened(true, false);
        assertThat(opened(false, true)).isGreaterThan(400);
        assertThat(opened(false, true)).isEqualTo(1000);
    }

    @Test
    void it_stays_as_it_is_while_the_loops_are_neither_late_nor_have_room() {
        assertThat(opened(false, false)).isBetween(49, 51);
    }

    @Test
    void it_opens_to_few_again_when_the_loops_are_late_again() {
        opened(false, true);
        assertThat(opened(true, false)).isBetween(49, 51);
    }
}
