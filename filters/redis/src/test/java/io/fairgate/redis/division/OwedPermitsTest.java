package io.fairgate.redis.division;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.offset;

import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class OwedPermitsTest {

    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    private final OwedPermits owed = new OwedPermits(0);

    private static NodeShare share(double entitled, boolean isScarce) {
        return new NodeShare(0, entitled, isScarce, false, Map.of(), Map.of());
    }

    @Test
    void a_node_is_owed_what_it_is_entitled_to_and_does_not_have() {
        owed.update(0, share(2.5, true), 2);
        assertThat(owed.permitSeconds(SECOND)).isEqualTo(0.5, offset(0.01));
        owed.update(SECOND, share(2.5, true), 4);
        assertThat(owed.permitSeconds(2 * SECOND)).isEqualTo(-1, offset(0.02));
    }

    @Test
    void what_is_long_ago_fades() {
        owed.update(0, share(1, true), 0);
        owed.update(SECOND, share(0, true), 0);
        assertThat(owed.permitSeconds(61 * SECOND)).isEqualTo(Math.exp(-1), offset(0.01));
        assertThat(owed.permitSeconds(1_000 * SECOND)).isEqualTo(0, offset(0.01));
    }

    @Test
    void it_does_not_grow_without_bound() {
        owed.update(0, share(1, true), 0);
        assertThat(owed.permitSeconds(100_000 * SECOND)).isEqualTo(60, offset(0.1));
    }

    @Test
    void while_there_are_permits_for_all_nothing_is_owed_for_long() {
        owed.update(0, share(1, true), 0);
        owed.update(2 * SECOND, share(5, false), 0);
        assertThat(owed.permitSeconds(12 * SECOND)).isEqualTo(0, offset(0.01));
    }

    @Test
    void a_clock_that_stands_still_changes_nothing() {
        owed.update(0, share(1, true), 0);
        owed.update(SECOND, share(1, true), 0);
        double before = owed.permitSeconds(SECOND);
        owed.update(SECOND, share(9, true), 0);
        assertThat(owed.permitSeconds(SECOND)).isEqualTo(before);
    }
}
