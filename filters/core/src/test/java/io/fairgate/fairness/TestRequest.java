package io.fairgate.fairness;

import io.fairgate.tenant.TenantId;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A request with a number, that can lose its interest. */
public final class TestRequest extends QueuedRequest {

    public final int number;
    public boolean wanted = true;

    /** When it will release its permits, once granted; {@link #UNTIL_A_STEP_ENDS_IT} if a step decides. */
    public long endsAt = UNTIL_A_STEP_ENDS_IT;

    public static final long UNTIL_A_STEP_ENDS_IT = Long.MAX_VALUE;

    private long hold;

    public TestRequest(TenantId tenant, int permits, int number) {
        this(tenant, null, permits, number);
    }

    public TestRequest(TenantId tenant, @Nullable String requestClass, int permits, int number) {
        super(tenant, requestClass, permits);
        this.number = number;
    }

    /** Sets the nanoseconds of its hold; 0 if a step will end it. */
    public TestRequest holdingFor(long nanos) {
        hold = nanos;
        return this;
    }

    public void granted(long now) {
        endsAt = hold == 0 ? UNTIL_A_STEP_ENDS_IT : now + hold;
    }

    /** Of the requests whose holds end by time. */
    public static @Nullable TestRequest endsFirst(List<TestRequest> holding) {
        return holding.stream()
                .filter(request -> request.endsAt != UNTIL_A_STEP_ENDS_IT)
                .min(Comparator.comparingLong(request -> request.endsAt))
                .orElse(null);
    }

    public static TestRequest of(String tenant, int permits) {
        return new TestRequest(TenantId.of(tenant), permits, 0);
    }

    static TestRequest of(String tenant, String requestClass, int permits) {
        return new TestRequest(TenantId.of(tenant), requestClass, permits, 0);
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
