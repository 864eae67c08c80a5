package io.fairgate.testkit;

import io.fairgate.quota.Quotas;
import io.fairgate.quota.embedded.EmbeddedQuotas;
import io.fairgate.testkit.quota.QuotasContract;
import java.time.InstantSource;

class EmbeddedQuotasContractTest extends QuotasContract {

    @Override
    public Quotas newQuotas(TestTime time, InstantSource calendar) {
        return new EmbeddedQuotas(time, calendar);
    }
}
