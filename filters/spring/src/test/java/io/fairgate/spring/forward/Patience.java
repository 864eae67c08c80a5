package io.fairgate.spring.forward;

import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.awaitility.Awaitility;

/** Waits for what other threads do, for as long as a busy machine needs. */
final class Patience {

    static final Duration LIMIT = Duration.ofSeconds(20);

    private Patience() {}

    static void acquire(Semaphore permit) throws InterruptedException {
        if (!permit.tryAcquire(LIMIT.toMillis(), TimeUnit.MILLISECONDS)) {
            throw new AssertionError("waited in vain for the other end of the connection");
        }
    }

    static void until(String what, BooleanSupplier condition) {
        if (condition.getAsBoolean()) {
            return;
        }
        Awaitility.await(what).pollInterval(Duration.ofMillis(2)).atMost(LIMIT).until(condition::getAsBoolean);
    }
}
