package io.fairgate.testkit;

import io.fairgate.quota.Quotas;
import io.fairgate.quota.embedded.EmbeddedQuotas;
import io.fairgate.testkit.odd.Network;
import io.fairgate.testkit.odd.OddQuotas;
import io.fairgate.testkit.quota.LostQuotasContract;
import io.fairgate.testkit.quota.QuotasContract;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Nested;

/** Quotas that answer a tick later, and are lost now and then, keep the same promises. */
class OddQuotasContractTest extends QuotasContract {

    private static final Duration TICK = Duration.ofNanos(1_000);

    private @Nullable Network network;

    @Override
    public Quotas newQuotas(TestTime time, InstantSource calendar) {
        network = new Network(time, TICK);
        return new OddQuotas(new EmbeddedQuotas(time, calendar), network);
    }

    @Override
    public void answer(TestTime time) {
        time.advanceBy(TICK.multipliedBy(20));
    }

    @Nested
    class Lost extends LostQuotasContract {
        Lost() {
            super(OddQuotasContractTest.this);
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
}
