package io.fairgate.spring.fairshare;

import io.fairgate.policy.Policy;
import io.fairgate.spring.refusal.Refusal;
import io.fairgate.spring.refusal.RefusedException;

/** The upstream answered with {@code 101 Switching Protocols}, which the request did not ask for. */
final class UnaskedUpgradeException extends RefusedException {

    private static final long serialVersionUID = 1L;

    UnaskedUpgradeException() {
        super("the upstream switched protocols without being asked");
    }

    @Override
    public Refusal refusal(Policy policy) {
        return Refusal.UPSTREAM_LOST;
    }
}
