package io.fairgate.testkit.quota;

import io.fairgate.quota.Quotas;
import io.fairgate.testkit.TestTime;
import java.time.InstantSource;

/** What the contract needs to know of a backend. */
public interface QuotasBackend {

    /**
     * Makes the quotas under test.
     *
     * @param time the monotonic clock and the timers
     * @param calendar the wall clock, which moves together with {@code time}
     */
    Quotas newQuotas(TestTime time, InstantSource calendar);

    /** Returns when the quotas have answered all that they were asked. It may move the time on, by less than a millisecond. */
    default void answer(TestTime time) {}

    /**
     * Returns when only what requests have used is charged: a backend may charge units for requests to come. It may move the time on, by
     * seconds.
     */
    default void giveBackUnused(TestTime time) {}

    /** The most units of a limit that may be charged for requests to come while another request is refused. */
    default long chargedAhead(long limit) {
        return 0;
    }
}
