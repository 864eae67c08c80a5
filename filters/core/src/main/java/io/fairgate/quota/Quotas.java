package io.fairgate.quota;

import io.fairgate.quota.QuotaDecision.Balance;
import java.util.List;
import reactor.core.publisher.Mono;

/**
 * The port of quotas: balances of tenants and groups, checked, charged and settled.
 *
 * <p>All calls are lazy (nothing happens before subscription) and never refuse by an error: a refusal is a value. They
 * may be called from any thread and answer on a thread of the backend's choice. Several quotas are all or nothing: when
 * an enforced one refuses, none is charged. Those that are not enforced are all or nothing among themselves, and are
 * charged only with the enforced ones: as they would be if they were enforced.
 */
public interface Quotas {

    /**
     * Would {@code units} pass now? Changes no balance.
     *
     * @param units at least 1
     */
    Mono<QuotaDecision> check(QuotaSet quotas, long units);

    /**
     * Takes the units of the charge from every quota, or from none of them. A charge is made at most once: whoever
     * subscribes again after it was made, or settled, only checks. Cancelling after the answer changes nothing. Cancelling
     * before it may leave the units charged, or kept aside for the charge: who cancels settles.
     */
    Mono<QuotaDecision> charge(QuotaCharge charge);

    /**
     * Corrects a charge when it is known what the request took: the difference is given back, or charged above what was
     * asked at first. Only the first settlement of a charge does anything, and only in windows that are still open. More
     * than was charged is never given back. What is charged above the limit is a debt, at most one limit more.
     *
     * @param actual units, 0 to give all of them back
     */
    Mono<Void> settle(QuotaCharge charge, long actual);

    /** How all quotas of the set stand for one unit, those that are not enforced included, in the order of the set. */
    Mono<List<Balance>> balances(QuotaSet quotas);
}
