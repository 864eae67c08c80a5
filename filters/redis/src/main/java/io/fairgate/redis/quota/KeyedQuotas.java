package io.fairgate.redis.quota;

import io.fairgate.quota.OwnedQuota;
import io.fairgate.quota.QuotaDecision;
import io.fairgate.quota.QuotaDecision.Balance;
import io.fairgate.quota.QuotaSet;
import io.fairgate.quota.QuotasUnavailableException;
import io.fairgate.redis.quota.QuotaAnswer.Outcome;
import io.fairgate.redis.quota.QuotaAnswer.QuotaLeft;
import java.util.ArrayList;
import java.util.List;
import reactor.core.publisher.Sinks;

/** A set of quotas with the keys of their usages in Redis: first the enforced quotas, then the others. Immutable. */
final class KeyedQuotas {

    final QuotaSet set;
    final List<KeyedQuota> inOrder;
    /** How many of them are enforced. */
    final int enforced;

    KeyedQuotas(QuotaSet set) {
        this.set = set;
        List<KeyedQuota> quotas = new ArrayList<>();
        set.quotas().stream().filter(OwnedQuota::enforced).map(KeyedQuota::new).forEach(quotas::add);
        this.enforced = quotas.size();
        set.quotas().stream()
                .filter(quota -> !quota.enforced())
                .map(KeyedQuota::new)
                .forEach(quotas::add);
        this.inOrder = List.copyOf(quotas);
    }

    QuotaDecision decision(QuotaAnswer answer) {
        List<Balance> balances = balances(answer);
        if (answer.outcome() == Outcome.REFUSED) {
            return QuotaDecision.refused(balances);
        }
        List<Balance> seen = List.copyOf(balances.subList(0, enforced));
        List<String> wouldRefuse = balances.subList(enforced, balances.size()).stream()
                .filter(Balance::refuses)
                .map(balance -> balance.of().label())
                .toList();
        return QuotaDecision.passed(() -> seen, wouldRefuse);
    }

    /** Stores in the set whether its latest decision was a refusal; returns the decision. */
    QuotaDecision noted(QuotaDecision decision) {
        set.note(decision);
        return decision;
    }

    /**
     * What a call emits that has no answer: an error, if one of its quotas is enforced and the policy does not let the request pass. The
     * others refuse nothing.
     *
     * @param charges whether the call would have charged the quotas
     */
    void withoutAnswer(
            Throwable why, QuotaOutagePolicy outagePolicy, boolean charges, Sinks.One<QuotaDecision> result) {
        if (enforced > 0 && !outagePolicy.isOpen()) {
            result.tryEmitError(why);
            return;
        }
        result.tryEmitValue(QuotaDecision.UNLIMITED);
        if (charges && letsPass(outagePolicy)) {
            outagePolicy.passedUncharged();
        }
    }

    /** Whether a request passes that would otherwise be refused without an answer. */
    boolean letsPass(QuotaOutagePolicy outagePolicy) {
        return enforced > 0 && outagePolicy.isOpen();
    }

    QuotasUnavailableException unreadable() {
        return new QuotasUnavailableException(
                new IllegalStateException("Redis has usage of %s that this version cannot read".formatted(set)));
    }

    /** In the order of the set. */
    List<Balance> inOrderOfSet(QuotaAnswer answer) {
        List<Balance> balances = balances(answer);
        return set.quotas().stream()
                .map(owned -> balances.stream()
                        .filter(balance -> balance.of().equals(owned))
                        .findFirst()
                        .orElseThrow())
                .toList();
    }

    private List<Balance> balances(QuotaAnswer answer) {
        List<Balance> balances = new ArrayList<>();
        for (int i = 0; i < answer.balances().size(); i++) {
            QuotaLeft left = answer.balances().get(i);
            balances.add(new Balance(inOrder.get(i).owned, left.units(), left.untilFull(), left.retryAfter()));
        }
        return balances;
    }
}
