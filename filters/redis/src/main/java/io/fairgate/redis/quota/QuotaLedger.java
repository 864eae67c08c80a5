package io.fairgate.redis.quota;

import reactor.core.publisher.Mono;

/** The balances of all quotas, as a gateway reaches them. */
interface QuotaLedger {

    /**
     * Has the ledger execute a batch, or answer again if it has executed it before. Errors when the ledger does not answer; it may have
     * executed the batch then.
     */
    Mono<QuotaAnswers> call(QuotaBatch batch);
}
