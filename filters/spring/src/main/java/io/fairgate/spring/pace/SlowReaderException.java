package io.fairgate.spring.pace;

import io.fairgate.policy.Policy;
import io.fairgate.spring.refusal.Refusal;
import io.fairgate.spring.refusal.RefusedException;
import org.springframework.http.HttpStatus;

/** The client reads its response too slowly. The response has begun, so its connection is closed. */
public final class SlowReaderException extends RefusedException {

    private static final long serialVersionUID = 1L;

    private static final Refusal REFUSAL =
            Refusal.of(HttpStatus.REQUEST_TIMEOUT, "slow-reader", "The client read the response too slowly.");

    public SlowReaderException() {
        super(REFUSAL.reason());
    }

    @Override
    public Refusal refusal(Policy policy) {
        return REFUSAL;
    }
}
