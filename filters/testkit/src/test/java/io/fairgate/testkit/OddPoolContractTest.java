package io.fairgate.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.PoolListener;
import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.embedded.EmbeddedPermitPool;
import io.fairgate.shares.TenantShares;
import io.fairgate.tenant.TenantId;
import io.fairgate.testkit.odd.Network;
import io.fairgate.testkit.odd.OddPool;
import io.fairgate.testkit.permit.LostPoolContract;
import io.fairgate.testkit.permit.PermitPoolContract;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import reactor.core.scheduler.Scheduler;

/** A pool that answers a tick later, sometimes says no, and is lost now and then keeps the same promises. */
class OddPoolContractTest extends PermitPoolContract {

    private static final Duration TICK = Duration.ofNanos(1_000);

    private @Nullable Network network;

    @Override
    public PermitPool newPool(PoolSettings settings, TenantShares shares, Scheduler time, PoolListener listener) {
        network = new Network(time, TICK);
        return new OddPool(new EmbeddedPermitPool("test", settings, shares, time, listener), network);
    }

    @Override
    public void answer(TestTime time) {
        time.advanceBy(TICK.multipliedBy(20));
    }

    @Nested
    class Lost extends LostPoolContract {
        Lost() {
            super(OddPoolContractTest.this);
        }

        @Override
        protected void lose() {
            Objects.requireNonNull(network).lose();
        }

        @Override
        protected void regain() {
            Objects.requireNonNull(network).regain();
        }
    }

    @Test
    void it_answers_later_and_says_no_although_permits_are_free() {
        TestTime time = new TestTime();
        PermitPool pool = newPool(PoolSettings.ofPermits(100), TenantShares.EQUAL, time, PoolListener.NONE);
        List<Object> answers = new ArrayList<>();
        pool.totals().subscribe(answers::add);
        time.advanceBy(TICK);
        assertThat(answers).as("half way").isEmpty();
        time.advanceBy(TICK);
        assertThat(answers).hasSize(1);
        List<Boolean> open = new ArrayList<>();
        List<Boolean> taken = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            open.add(pool.hasOpenPermit(TenantId.of("a")));
            taken.add(pool.tryAcquire(PermitRequest.of("a")) != null);
        }
        assertThat(open).contains(true, false);
        assertThat(taken).contains(true, false);
    }
}
