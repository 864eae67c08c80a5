package io.fairgate.quota;

import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** All that one owner has used, and the lock of it. */
final class Account {

    /** So many usages are kept although a policy may not name them any more. */
    static final int KEPT = 32;

    private final QuotaOwner owner;
    private final @Nullable UsageJournal journal;
    private final Map<UsageKey, Usage> usages = new HashMap<>(4); // most owners have two or three

    /** The owner has another account by now, or none. */
    private volatile boolean isDropped;

    /** @param journal where usage is written down; null for nowhere */
    Account(QuotaOwner owner, @Nullable UsageJournal journal) {
        this.owner = owner;
        this.journal = journal;
    }

    /** What is used of a quota; nothing at first. In an account that was dropped meanwhile it is forgotten already. */
    synchronized Usage usage(Quota quota, Moment now) {
        UsageKey key = UsageKey.of(quota);
        if (isDropped) {
            Usage forgotten = Usage.of(quota, now, null);
            forgotten.forget();
            return forgotten;
        }
        Usage usage = usages.get(key);
        if (usage == null) {
            usage = Usage.of(quota, now, journaled(key));
            usages.put(key, usage);
        }
        return usage;
    }

    private @Nullable JournaledUsage journaled(UsageKey key) {
        return journal == null ? null : new JournaledUsage(journal, new JournalRecord.Key(owner, key), this);
    }

    /** Writes down what is used, to the unit. */
    synchronized void writeExactly() {
        for (Usage usage : usages.values()) {
            if (usage instanceof WindowUsage window) {
                window.writeExactly();
            }
        }
    }

    /**
     * A policy that changes again and again names ever new quotas. Those of which nothing is used go, whoever still wants
     * them: it finds them forgotten, and asks again. To be called once before all usages of a set are asked for, and not
     * for each: those of the set that nobody has used yet would go in favour of each other, for ever.
     */
    synchronized void makeRoom(Moment now) {
        if (usages.size() < KEPT) {
            return;
        }
        Iterator<Usage> all = usages.values().iterator();
        while (all.hasNext()) {
            Usage usage = all.next();
            if (usage.isNothing(now)) {
                usage.forget();
                all.remove();
            }
        }
    }

    /**
     * Ends the account, if forgetting it makes no difference. What still has a usage of it finds that forgotten, and asks for
     * the owner's account anew.
     *
     * @param evenIfUsed also when units of it are used, unless a record of them is on its way to the disk
     */
    synchronized boolean drop(Moment now, boolean evenIfUsed) {
        for (Usage usage : usages.values()) {
            if (!usage.isNothing(now) && (!evenIfUsed || usage.isBeingWritten())) {
                return false;
            }
        }
        usages.values().forEach(Usage::forget);
        usages.clear();
        isDropped = true;
        return true;
    }

    boolean isDropped() {
        return isDropped;
    }

    /** How many quotas have a usage written down, for tests. */
    synchronized int size() {
        return usages.size();
    }
}
