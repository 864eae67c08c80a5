package io.fairgate.quota;

import io.fairgate.quota.QuotaDecision.Balance;
import java.util.List;
import reactor.core.publisher.Mono;

/**
 * The port of quotas: balances of tenants and groups, checked, charged and settled.
 *
 * <p>All calls are lazy: nothing happens before subscription. A refusal is a value, not an error. Any thread may call; the
 * backend chooses the thread of the answer. Several quotas are charged all or none: when an enforced one refuses, none is
 * charged. Quotas that are not enforced are charged all or none among themselves, and only together with the enforced ones,
 * as they would be if they were enforced.
 */
public interface Quotas {

    /**
     * Decides whether {@code units} would pass now. Changes no balance.
     *
     * @param units at least 1
     */
    Mono<QuotaDecision> check(QuotaSet quotas, long units);

    /**
     * Takes the units of the charge from every quota, or from none of them. A charge is made at most once: another
     * subscription after it was made or settled only checks. Cancelling after the answer changes nothing. Cancelling before
     * the answer may leave the units charged, or set aside for the charge: a caller that cancels must settle.
     */
    Mono<QuotaDecision> charge(QuotaCharge charge);

    /**
     * Corrects a charge when the actual cost of the request is known: returns the difference, or charges it in addition. Only
     * the first settlement of a charge does anything. Units are returned only to windows that are still open, and never more
     * than were charged. Units charged above the limit are a debt of at most one more limit.
     *
     * @param actual the units that the request has used, 0 to return all of them
     */
    Mono<Void> settle(QuotaCharge charge, long actual);

    /** The balances of all quotas of the set, as for a request of one unit, also of quotas that are not enforced; in order. */
    Mono<List<Balance>> balances(QuotaSet quotas);
}
