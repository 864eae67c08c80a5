package io.fairgate.spring.overload;

import io.fairgate.policy.Policy;
import io.fairgate.spring.refusal.Refusal;
import io.fairgate.spring.refusal.RefusedException;

/** The event loop of the request is overloaded, and the tenant uses more than its share of it. */
final class OverloadedException extends RefusedException {

    private static final long serialVersionUID = 1L;

    static final String REASON = "overloaded";

    OverloadedException() {
        super(REASON);
    }

    @Override
    public Refusal refusal(Policy policy) {
        return Refusal.overloaded(REASON);
    }
}
