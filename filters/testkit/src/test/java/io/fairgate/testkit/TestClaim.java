package io.fairgate.testkit;

import io.fairgate.fairness.Claim;
import io.fairgate.tenant.TenantId;
import org.jspecify.annotations.Nullable;

/** A claim with a number, that can lose its interest. */
final class TestClaim extends Claim {

    final int number;
    boolean wanted = true;

    TestClaim(TenantId tenant, int permits, int number) {
        this(tenant, null, permits, number);
    }

    TestClaim(TenantId tenant, @Nullable String requestClass, int permits, int number) {
        super(tenant, requestClass, permits);
        this.number = number;
    }

    static TestClaim of(String tenant, int permits) {
        return new TestClaim(TenantId.of(tenant), permits, 0);
    }

    static TestClaim of(String tenant, String requestClass, int permits) {
        return new TestClaim(TenantId.of(tenant), requestClass, permits, 0);
    }

    @Override
    protected boolean accept() {
        return wanted;
    }

    @Override
    public String toString() {
        return "#%d of %s, %d permits".formatted(number, tenant(), permits());
    }
}
