package io.fairgate.spring.admission;

import io.fairgate.policy.Policy;
import io.fairgate.spring.refusal.Refusal;
import io.fairgate.spring.refusal.RefusedException;

/** A request is refused before its tenant is identified. */
final class NotAdmittedException extends RefusedException {

    private static final long serialVersionUID = 1L;

    private final transient Refusal refusal;

    NotAdmittedException(Refusal refusal) {
        super(refusal.reason());
        this.refusal = refusal;
    }

    boolean isFor(Refusal other) {
        return refusal.equals(other);
    }

    @Override
    public Refusal refusal(Policy policy) {
        return refusal;
    }
}
