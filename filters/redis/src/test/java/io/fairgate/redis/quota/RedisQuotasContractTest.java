package io.fairgate.redis.quota;

import io.fairgate.quota.Quotas;
import io.fairgate.testkit.TestTime;
import io.fairgate.testkit.quota.LostQuotasContract;
import io.fairgate.testkit.quota.QuotasContract;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Nested;

/** The script in a real Redis, on the clock of the test. */
class RedisQuotasContractTest extends QuotasContract {

    private static final Duration ONE_WAY = Duration.ofNanos(2_000);

    private @Nullable NearQuotas near;
    private @Nullable TestTime time;

    @Override
    public Quotas newQuotas(TestTime testTime, InstantSource calendar) {
        NearQuotas.redis().flushall();
        near = new NearQuotas(testTime, calendar, calendar, ONE_WAY);
        time = testTime;
        return new RedisQuotas(near, QuotaOutagePolicy.FAIL_CLOSED, testTime, "gateway", true);
    }

    /** Long enough for a charge that is given back: two batches, behind another one. */
    @Override
    public void answer(TestTime testTime) {
        testTime.advanceBy(ONE_WAY.multipliedBy(8));
    }

    @Override
    public void giveBackUnused(TestTime testTime) {
        testTime.advanceBy(PrepaidUnits.LONGEST);
        answer(testTime);
    }

    @Override
    public long chargedAhead(long limit) {
        return limit / 16;
    }

    @Nested
    class Lost extends LostQuotasContract {
        Lost() {
            super(RedisQuotasContractTest.this);
        }

        @Override
        protected void lose() {
            Objects.requireNonNull(near).isLost = true;
        }

        /** The batch without an answer is sent again after a pause. */
        @Override
        protected void regain() {
            Objects.requireNonNull(near).isLost = false;
            Objects.requireNonNull(time).advanceBy(QuotaCalls.LONGEST_PAUSE);
        }
    }
}
