package io.fairgate.quota.embedded;

import io.fairgate.quota.QuotaOwner;
import io.fairgate.quota.Quota;
import io.fairgate.quota.journal.JournalRecord;
import io.fairgate.quota.journal.UsageJournal;
import io.fairgate.quota.journal.UsageKey;

import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** All usages of one owner; its monitor is their lock. */
final class Account {

    /** With this many usages or more, those that the policy may not name any more are removed if unused. */
    static final int KEPT = 32;

    private final QuotaOwner owner;
    private final @Nullable UsageJournal journal;
    private final Map<UsageKey, Usage> usages = new HashMap<>(4); // most owners have two or three

    /** Whether the account was dropped: the owner has another account now, or none. */
    private volatile boolean isDropped;

    /** @param journal the journal of calendar quotas and totals; null for none */
    Account(QuotaOwner owner, @Nullable UsageJournal journal) {
        this.owner = owner;
        this.journal = journal;
    }

    /** The usage of a quota, made when there is none. In an account that was dropped the usage is already forgotten. */
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

    /** Writes the exact usage to the journal. */
    synchronized void writeExactly() {
        for (Usage usage : usages.values()) {
            if (usage instanceof WindowUsage window) {
                window.writeExactly();
            }
        }
    }

    /**
     * Removes usages of which nothing is used, when there are many: a policy that changes again and again names ever new
     * quotas. A set that still refers to a removed usage finds it forgotten, and looks it up anew. To be called once before
     * all usages of a set are looked up, and not for each: otherwise the unused ones of the set would displace each other for
     * ever.
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
     * Drops the account, if forgetting it makes no difference. A set that still refers to one of its usages finds it
     * forgotten, and looks up the owner's account anew.
     *
     * @param evenIfUsed drops it also when units are used, unless a record of them is being written to the disk
     * @return whether it was dropped
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

    /** The number of quotas with a usage, for tests. */
    synchronized int size() {
        return usages.size();
    }
}
