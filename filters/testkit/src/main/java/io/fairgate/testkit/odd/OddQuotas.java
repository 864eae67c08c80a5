package io.fairgate.testkit.odd;

import io.fairgate.quota.QuotaCharge;
import io.fairgate.quota.QuotaDecision;
import io.fairgate.quota.QuotaDecision.Balance;
import io.fairgate.quota.QuotaOwner;
import io.fairgate.quota.QuotaSet;
import io.fairgate.quota.Quotas;
import io.fairgate.quota.QuotasUnavailableException;
import java.util.List;
import java.util.Set;
import reactor.core.publisher.Mono;

/** Quotas behind a {@link Network}. A call that is cancelled reaches the server nevertheless. */
public final class OddQuotas implements Quotas {

    private final Quotas server;
    private final Network network;

    /** @param server the quotas at the other end of the network */
    public OddQuotas(Quotas server, Network network) {
        this.server = server;
        this.network = network;
    }

    private <T> Mono<T> call(Mono<T> call) {
        return network.call(call, QuotasUnavailableException::new);
    }

    /** A decision after its way through the network: its balances are those that the server sent along. */
    private static QuotaDecision sent(QuotaDecision decision) {
        List<Balance> balances = decision.balances();
        return decision.allowed() ? QuotaDecision.passed(() -> balances, decision.wouldRefuse()) : decision;
    }

    @Override
    public Mono<QuotaDecision> check(QuotaSet quotas, long units) {
        return call(server.check(quotas, units).map(OddQuotas::sent));
    }

    @Override
    public QuotaCharge newCharge(QuotaSet quotas, long units) {
        return new OddCharge(server.newCharge(quotas, units));
    }

    @Override
    public Mono<List<Balance>> balances(QuotaSet quotas) {
        return call(server.balances(quotas));
    }

    @Override
    public Mono<Void> dropUnused(Set<QuotaOwner> kept) {
        return call(server.dropUnused(kept));
    }

    private final class OddCharge implements QuotaCharge {

        private final QuotaCharge charge;
        private volatile boolean isAnswered;

        OddCharge(QuotaCharge charge) {
            this.charge = charge;
        }

        @Override
        public QuotaSet quotas() {
            return charge.quotas();
        }

        @Override
        public long units() {
            return charge.units();
        }

        @Override
        public Mono<QuotaDecision> charge() {
            return call(charge.charge().map(OddQuotas::sent)).doOnNext(decision -> isAnswered = true);
        }

        /** Without its answer the client does not know, although the server may have charged. */
        @Override
        public boolean isCharged() {
            return isAnswered && charge.isCharged();
        }

        @Override
        public Mono<Void> settle(long actual) {
            return network.delivered(charge.settle(actual));
        }
    }
}
