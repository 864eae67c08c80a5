package io.fairgate.quota;

import io.fairgate.tenant.TenantId;
import java.util.List;
import reactor.core.publisher.Mono;

/**
 * The port of quotas: balances of tenants, checked and charged.
 *
 * <p>Both calls are lazy (nothing happens before subscription), answer with exactly one decision, and never refuse by
 * an error: a refusal is a value. They may be called from any thread and answer on a thread of the backend's choice
 * (the embedded backend: the subscriber's). Several quotas are all or nothing: when one refuses, none is charged.
 * Cancelling after the answer changes nothing; cancelling before it may leave the units charged.
 */
public interface Quotas {

    /**
     * Would {@code units} pass now? Changes no balance.
     *
     * @param quotas the quotas of this tenant, in the order in which they are reported
     * @param units at least 1
     */
    Mono<QuotaDecision> check(TenantId tenant, List<Quota> quotas, long units);

    /** Takes {@code units} from every quota, or from none of them. */
    Mono<QuotaDecision> charge(TenantId tenant, List<Quota> quotas, long units);

    /** The balances, for metrics; like a check of one unit. */
    default Mono<QuotaDecision> balances(TenantId tenant, List<Quota> quotas) {
        return check(tenant, quotas, 1);
    }
}
