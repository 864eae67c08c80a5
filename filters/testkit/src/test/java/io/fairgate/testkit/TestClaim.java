package io.fairgate.testkit;

import io.fairgate.fairness.QueuedRequest;
import io.fairgate.tenant.TenantId;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A claim with a number, that can lose its interest. */
final class TestClaim extends QueuedRequest {

    final int number;
    boolean wanted = true;

    /** When it will give its permits back, once it has them; {@link #UNTIL_A_STEP_ENDS_IT} if nobody knows. */
    long endsAt = UNTIL_A_STEP_ENDS_IT;

    static final long UNTIL_A_STEP_ENDS_IT = Long.MAX_VALUE;

    private long hold;

    TestClaim(TenantId tenant, int permits, int number) {
        this(tenant, null, permits, number);
    }

    TestClaim(TenantId tenant, @Nullable String requestClass, int permits, int number) {
        super(tenant, requestClass, permits);
        this.number = number;
    }

    /** It will hold its permits for so many nanoseconds; 0 says that a step will end it. */
    TestClaim holdingFor(long nanos) {
        hold = nanos;
        return this;
    }

    void granted(long now) {
        endsAt = hold == 0 ? UNTIL_A_STEP_ENDS_IT : now + hold;
    }

    /** Of those that end by themselves. */
    static @Nullable TestClaim endsFirst(List<TestClaim> holding) {
        return holding.stream()
                .filter(claim -> claim.endsAt != UNTIL_A_STEP_ENDS_IT)
                .min(Comparator.comparingLong(claim -> claim.endsAt))
                .orElse(null);
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
