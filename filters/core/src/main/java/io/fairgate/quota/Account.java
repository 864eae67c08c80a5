package io.fairgate.quota;

import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;

/** All that one owner has used, and the lock of it. */
final class Account {

    /** So many usages are kept although a policy may not name them any more. */
    static final int KEPT = 32;

    private final Map<UsageKey, Usage> usages = new HashMap<>();

    /** What is used of a quota; nothing at first. */
    synchronized Usage usage(Quota quota, Moment now) {
        UsageKey key = UsageKey.of(quota);
        Usage usage = usages.get(key);
        if (usage == null) {
            if (usages.size() >= KEPT) {
                forgetUnused(now);
            }
            usage = Usage.of(quota, now);
            usages.put(key, usage);
        }
        return usage;
    }

    /**
     * A policy that changes again and again names ever new quotas. Those of which nothing is used go, whoever still wants
     * them: it finds them forgotten, and asks again.
     */
    private void forgetUnused(Moment now) {
        Iterator<Usage> all = usages.values().iterator();
        while (all.hasNext()) {
            Usage usage = all.next();
            if (usage.isNothing(now)) {
                usage.forget();
                all.remove();
            }
        }
    }

    /** How many quotas have a usage written down, for tests. */
    synchronized int size() {
        return usages.size();
    }
}
