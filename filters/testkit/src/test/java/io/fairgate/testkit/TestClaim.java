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

    /** When it will release its permits, once granted; {@link #UNTIL_A_STEP_ENDS_IT} if a step decides. */
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

    /** Sets the nanoseconds of its hold; 0 if a step will end it. */
    TestClaim holdingFor(long nanos) {
        hold = nanos;
        return this;
    }

    void granted(long now) {
        endsAt = hold == 0 ? UNTIL_A_STEP_ENDS_IT : now + hold;
    }

    /** Of the claims whose holds end by time. */
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
