package io.fairgate.quota;

import reactor.core.publisher.Mono;

/**
 * The units that one request takes from its quotas: charged at most once, and settled at most once. Made by {@link
 * Quotas#newCharge}; any thread may use it. Each event that ends a request may settle the charge, also repeatedly and before
 * it was charged: only the first settlement does anything, and a charge that is settled first is not charged any more.
 */
public interface QuotaCharge {

    /** The quotas that are charged. */
    QuotaSet quotas();

    /** The units to charge, at least 1. */
    long units();

    /**
     * Takes the units from every quota, or from none of them. Another subscription after the charge was made or settled only
     * checks. Cancelling after the answer changes nothing. Cancelling before the answer, or an error, may leave the units
     * charged, or set aside for this charge: a caller that cancels or gets an error must settle.
     */
    Mono<QuotaDecision> charge();

    /** Whether the units are charged and may still be settled. */
    boolean isCharged();

    /**
     * Corrects the charge when the actual cost of the request is known: returns the difference, or charges it in addition.
     * Units are returned only to windows that are still open, and never more than were charged. Units charged above the
     * limit are a debt of at most one more limit. Completes when that is done; a backend that is out of reach does it when it
     * can be reached again.
     *
     * @param actual the units that the request has used, 0 to return all of them
     */
    Mono<Void> settle(long actual);
}
