package io.fairgate.quota.embedded;

import io.fairgate.quota.Quotas;
import io.fairgate.testkit.TestTime;
import io.fairgate.testkit.quota.QuotasContract;
import java.time.InstantSource;

class EmbeddedQuotasContractTest extends QuotasContract {

    @Override
    public Quotas newQuotas(TestTime time, InstantSource calendar) {
        return new EmbeddedQuotas(time, calendar);
    }
}
