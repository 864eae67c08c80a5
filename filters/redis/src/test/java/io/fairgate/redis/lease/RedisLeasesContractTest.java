package io.fairgate.redis.lease;

import io.fairgate.lease.LeasedPools;
import io.fairgate.lease.Leases;
import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PoolSettings;
import io.fairgate.redis.slice.NearPools;
import io.fairgate.testkit.TestTime;
import io.fairgate.testkit.lease.LeasesContract;
import io.fairgate.testkit.lease.LostLeasesContract;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Nested;
import reactor.core.scheduler.Scheduler;

/** The only gateway, with the script of the book in a real Redis, and the model of the ledger for its pools. */
class RedisLeasesContractTest extends LeasesContract {

    private @Nullable NearPools pools;
    private @Nullable NearBook book;
    private @Nullable TestTime time;

    private NearPools pools(Scheduler testTime) {
        NearPools now = pools;
        if (now == null) {
            NearBook.redis().flushall();
            now = new NearPools(testTime);
            pools = now;
        }
        return now;
    }

    @Override
    protected PermitPool newPool(String name, PoolSettings settings, Scheduler testTime) {
        return pools(testTime).newPool(name, settings);
    }

    @Override
    protected Leases newLeases(LeasedPools leased, Scheduler testTime) {
        time = (TestTime) testTime;
        book = new NearBook(testTime);
        RedisLeases leases = new RedisLeases(leased, book, "gateway", Duration.ofMillis(700), testTime, testTime);
        leases.startBeats();
        time.advanceBy(NearPools.AFTER_RECOVERY);
        return leases;
    }

    @Nested
    class Lost extends LostLeasesContract {
        Lost() {
            super(RedisLeasesContractTest.this);
        }

        @Override
        protected void lose() {
            lost(true);
        }

        @Override
        protected void regain() {
            lost(false);
        }

        private void lost(boolean isLost) {
            Objects.requireNonNull(book).isLost = isLost;
            Objects.requireNonNull(pools).lost(isLost);
            Objects.requireNonNull(time).advanceBy(HostBeats.BEATS);
        }
    }
}
