package io.fairgate.redis.slice;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** {@code -Dfairgate.states=2000000} explores more states than the usual ones. */
class ExplorationTest {

    private static final int STATES = Integer.getInteger("fairgate.states", 5_000);
    private static final int ENOUGH_FOR_A_MISTAKE = 80_000;
    private static final int BEATS = 2;

    private static final List<String> NOTHING = List.of();
    /** A node has both permits, and the replica does not know it. */
    private static final List<String> AHEAD_OF_REPLICA = List.of("beat 0 2", "replicate", "deliver 0", "answer 0");
    /** A node has both permits, its next heartbeat gives them up, and none of the two has arrived. */
    private static final List<String> GIVING_UP = List.of("beat 0 2", "deliver 0", "answer 0", "beat 0 0");
    /** The first heartbeats of a node, and none of the two has arrived. */
    private static final List<String> TWO_UNDER_WAY = List.of("beat 0 0", "beat 0 2");

    private static Exploration.Result explore(Set<Guard> without, List<String> start, int states) {
        return new Exploration(without, BEATS, start).explore(states);
    }

    @Test
    void no_state_has_more_permits_than_the_pool() {
        for (List<String> start : List.of(NOTHING, AHEAD_OF_REPLICA, GIVING_UP, TWO_UNDER_WAY)) {
            Exploration.Result result = explore(Set.of(), start, STATES);
            assertThat(result.mistake()).as("after %s", start).isEmpty();
            assertThat(result.states()).as("after %s", start).isGreaterThan(1_000);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"SERVER_IDENTITY", "SEQUENCE", "LATEST_ANSWER", "RECOVERY"})
    void without_a_guard_there_is_a_state_with_more(Guard guard) {
        assertThat(explore(EnumSet.of(guard), beforeMistake(guard), ENOUGH_FOR_A_MISTAKE)
                        .mistake())
                .isNotEmpty();
    }

    /** A start from which few steps lead to a mistake without the guard. */
    private static List<String> beforeMistake(Guard guard) {
        return switch (guard) {
            case SEQUENCE -> TWO_UNDER_WAY;
            case LATEST_ANSWER -> GIVING_UP;
            default -> AHEAD_OF_REPLICA;
        };
    }
}
