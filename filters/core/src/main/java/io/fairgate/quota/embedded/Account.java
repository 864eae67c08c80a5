package io.fairgate.quota.embedded;

import io.fairgate.quota.Quota;
import io.fairgate.quota.QuotaOwner;
import io.fairgate.quota.journal.UsageJournal;
import io.fairgate.quota.journal.UsageKey;
import java.util.HashMap;
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
    volatile boolean isDropped;

    /** @param journal the journal of calendar quotas and totals; null for none */
    Account(QuotaOwner owner, @Nullable UsageJournal journal) {
        this.owner = owner;
        this.journal = journal;
    }

    /** The usage of a quota, made when there is none. In an account that was dropped the usage is already forgotten. */
    synchronized Usage usage(Quota quota, ClockReading now) {
        Usage usage = usages.computeIfAbsent(UsageKey.of(owner, quota), key -> newUsage(quota, key, now));
        if (isDropped) {
            usage.isForgotten = true;
            usages.clear();
        }
        return usage;
    }

    private Usage newUsage(Quota quota, UsageKey key, ClockReading now) {
        if (quota instanceof Quota.Rate rate) {
            return new RateUsage(rate, now.nanos);
        } else if (quota instanceof Quota.Sliding sliding) {
            return new SlidingUsage(sliding.within(), now.nanos);
        }
        return journal == null ? new WindowUsage() : new JournaledUsage(journal, key, this);
    }

    synchronized void writeExactly() {
        for (Usage usage : usages.values()) {
            if (usage instanceof JournaledUsage journaled) {
                journaled.writeExactly();
            }
        }
    }

    /**
     * Removes usages of which nothing is used, when there are many: a policy that changes again and again names ever new
     * quotas. A set that still refers to a removed usage finds it forgotten, and looks it up anew. To be called once before
     * all usages of a set are looked up, and not for each: or unused ones of the set would displace each other for ever.
     */
    synchronized void makeRoom(ClockReading now) {
        if (usages.size() < KEPT) {
            return;
        }
        usages.values().forEach(usage -> usage.isForgotten = usage.isNothing(now));
        usages.values().removeIf(usage -> usage.isForgotten);
    }

    /**
     * Drops the account, if forgetting it makes no difference. A set that still refers to one of its usages finds it
     * forgotten, and looks up the owner's account anew.
     *
     * @param evenIfUsed drops it also when units are used, unless a record of them is being written to the disk
     * @return whether it was dropped
     */
    synchronized boolean drop(ClockReading now, boolean evenIfUsed) {
        for (Usage usage : usages.values()) {
            boolean isBeingWritten = usage instanceof JournaledUsage journaled && journaled.isWriting;
            if (!usage.isNothing(now) && (!evenIfUsed || isBeingWritten)) {
                return false;
            }
        }
        usages.values().forEach(usage -> usage.isForgotten = true);
        usages.clear();
        isDropped = true;
        return true;
    }

    /** The number of quotas with a usage, for tests. */
    synchronized int size() {
        return usages.size();
    }
}
