package io.fairgate.spring.admission;

import io.fairgate.policy.Policy;
import io.fairgate.spring.refusal.Refusal;
import io.fairgate.spring.refusal.RefusedException;

/** The gateway is shutting down and takes no new requests. */
final class DrainingException extends RefusedException {

    static final String REASON = "draining";

    private static final long serialVersionUID = 1L;

    DrainingException() {
        super(REASON);
    }

    @Override
    public Refusal refusal(Policy policy) {
        return Refusal.DRAINING;
    }
}
