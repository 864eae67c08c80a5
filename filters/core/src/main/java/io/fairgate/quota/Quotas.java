package io.fairgate.quota;

import io.fairgate.quota.QuotaDecision.Balance;
import java.util.List;
import java.util.Set;
import reactor.core.publisher.Mono;

/**
 * The port of quotas: balances of tenants and groups, checked, charged and settled.
 *
 * <p>All calls are lazy: nothing happens before subscription. A refusal is a value, not an error. Any thread may call; the
 * backend chooses the thread of the answer. Several quotas are charged all or none: when an enforced one refuses, none is
 * charged. Quotas that are not enforced are charged all or none among themselves, and only together with the enforced ones,
 * as they would be if they were enforced.
 *
 * <p>A backend in another process can be out of reach: then the calls error with {@link QuotasUnavailableException}. If none of the
 * quotas is enforced, a backend may let the request pass instead.
 */
public interface Quotas {

    /**
     * Decides whether {@code units} would pass now. Changes no balance.
     *
     * @param units at least 1
     * @throws IllegalArgumentException at once, when {@code units} is below 1
     */
    Mono<QuotaDecision> check(QuotaSet quotas, long units);

    /**
     * A charge that is not made yet. Changes no balance.
     *
     * @param units the units to charge at first, at least 1; {@link QuotaCharge#settle} corrects them later
     * @throws IllegalArgumentException at once, when {@code units} is below 1
     */
    QuotaCharge newCharge(QuotaSet quotas, long units);

    /** The balances of all quotas of the set, as for a request of one unit, also of quotas that are not enforced; in order. */
    Mono<List<Balance>> balances(QuotaSet quotas);

    /**
     * Drops the balances of owners that the policy does not name any more, once nothing of them is used: not before, or an
     * owner that is removed and soon added again would get new units. To be repeated from time to time. Does nothing in a
     * backend whose balances end by themselves.
     *
     * @param kept the owners that the policy names
     */
    default Mono<Void> dropUnused(Set<QuotaOwner> kept) {
        return Mono.empty();
    }
}
