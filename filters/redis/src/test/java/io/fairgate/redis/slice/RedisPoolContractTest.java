package io.fairgate.redis.slice;

import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PoolListener;
import io.fairgate.permit.PoolSettings;
import io.fairgate.shares.TenantShares;
import io.fairgate.testkit.TestTime;
import io.fairgate.testkit.permit.LostPoolContract;
import io.fairgate.testkit.permit.PermitPoolContract;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Nested;
import reactor.core.scheduler.Scheduler;

/** The only gateway at a ledger, with the model of the ledger in the place of Redis. */
class RedisPoolContractTest extends PermitPoolContract {

    private static final SliceTerm TERM = SliceTerm.USUAL;
    private static final Duration CALL = Duration.ofNanos(1_000);

    private @Nullable NearLedger ledger;
    private @Nullable TestTime time;
    private int names;

    @Override
    public PermitPool newPool(PoolSettings settings, TenantShares shares, Scheduler time, PoolListener listener) {
        TestTime testTime = (TestTime) time;
        NearLedger near = new NearLedger(testTime, CALL);
        this.time = testTime;
        ledger = near;
        PermitPool pool = new RedisPermitPool(
                "test",
                settings,
                shares,
                listener,
                near,
                TERM,
                OutagePolicy.FAIL_CLOSED,
                () -> "node-" + names++,
                time,
                time);
        testTime.advanceBy(TERM.ttl().multipliedBy(2)); // until the first recovery is over
        return pool;
    }

    @Override
    public Duration soon() {
        return Duration.ofMillis(20);
    }

    /** As long as it takes until the next heartbeat has been answered. */
    @Override
    public void answer(TestTime time) {
        time.advanceBy(HeartbeatTimer.LEAST_BETWEEN_BEATS.plus(CALL.multipliedBy(2)));
    }

    @Nested
    class Lost extends LostPoolContract {
        Lost() {
            super(RedisPoolContractTest.this);
        }

        @Override
        protected void lose() {
            Objects.requireNonNull(ledger).isLost = true;
            Objects.requireNonNull(time).advanceBy(Duration.ofNanos(TERM.nanos()));
        }

        @Override
        protected void regain() {
            Objects.requireNonNull(ledger).isLost = false;
            Objects.requireNonNull(time).advanceBy(TERM.ttl()); // until the ledger has forgotten the node of before
        }
    }
}
