package io.fairgate.quota;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What one tenant has used of its quotas.
 *
 * <p>A lock makes several quotas all or nothing. It is held for arithmetic on a handful of values: no clock, no signal
 * and no code of a caller runs inside, so it cannot deadlock or be held for long, and tenants do not share it. An
 * atomic reference to an immutable map was turned down: a tenant under load would copy the map again on every lost race.
 */
final class TenantUsage {

    /** Another window is another balance; the change back and forth of a policy must not refill either. */
    private record Key(String name, Object window) {
        static Key of(Quota quota) {
            return quota instanceof Quota.Rate rate
                    ? new Key(rate.name(), rate.per())
                    : new Key(quota.name(), ((Quota.Calendar) quota).per());
        }
    }

    private final Map<Key, Usage> usages = new HashMap<>();

    synchronized QuotaDecision check(List<Quota> quotas, long units, Moment now) {
        return decision(settled(quotas, now), units, now);
    }

    synchronized QuotaDecision charge(List<Quota> quotas, long units, Moment now) {
        List<Usage> before = settled(quotas, now);
        QuotaDecision decision = decision(before, units, now);
        if (!decision.allowed()) {
            return decision;
        }
        List<Usage> after = new ArrayList<>(before.size());
        for (Usage usage : before) {
            after.add(usage.plus(units));
        }
        store(after, now);
        return decision(after, 0, now);
    }

    private List<Usage> settled(List<Quota> quotas, Moment now) {
        List<Usage> settled = new ArrayList<>(quotas.size());
        for (Quota quota : quotas) {
            settled.add(Usage.settled(quota, usages.get(Key.of(quota)), now));
        }
        return settled;
    }

    private static QuotaDecision decision(List<Usage> settled, long units, Moment now) {
        boolean allowed = true;
        List<QuotaDecision.Balance> balances = new ArrayList<>(settled.size());
        for (Usage usage : settled) {
            QuotaDecision.Balance balance = usage.balance(units, now);
            allowed &= !balance.refuses();
            balances.add(balance);
        }
        return new QuotaDecision(allowed, balances);
    }

    private void store(List<Usage> after, Moment now) {
        int known = usages.size();
        for (Usage usage : after) {
            usages.put(Key.of(usage.quota()), usage);
        }
        if (usages.size() > known) {
            forgetUnused(after, now);
        }
    }

    /** The policy has changed. What it no longer names goes once nothing of it is used, not before. */
    private void forgetUnused(List<Usage> stored, Moment now) {
        Set<Key> named = new HashSet<>();
        for (Usage usage : stored) {
            named.add(Key.of(usage.quota()));
        }
        usages.entrySet()
                .removeIf(e -> !named.contains(e.getKey()) && e.getValue().isNothing(now));
    }

    /** How many quotas have a usage written down, for tests. */
    synchronized int size() {
        return usages.size();
    }
}
