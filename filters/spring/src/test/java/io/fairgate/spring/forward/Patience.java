package io.fairgate.spring.forward;

import java.time.Duration;
import java.util.function.BooleanSupplier;
import org.awaitility.Awaitility;

/** Waits for what other threads do, for as long as a busy machine needs. */
final class Patience {

    static final Duration LIMIT = Duration.ofSeconds(20);

    private Patience() {}

    static void until(String what, BooleanSupplier condition) {
        if (condition.getAsBoolean()) {
            return;
        }
        Awaitility.await(what).pollInterval(Duration.ofMillis(2)).atMost(LIMIT).until(condition::getAsBoolean);
    }
}
