package io.fairgate.redis.quota;

/** What happens to requests that have enforced quotas while Redis does not answer. */
public final class QuotaOutagePolicy {

    /** They are refused. No quota is exceeded. */
    public static final QuotaOutagePolicy FAIL_CLOSED = new QuotaOutagePolicy(false, () -> {});

    private final boolean isOpen;
    private final Runnable uncharged;

    private QuotaOutagePolicy(boolean isOpen, Runnable uncharged) {
        this.isOpen = isOpen;
        this.uncharged = uncharged;
    }

    /**
     * They pass, and are not charged, also not when Redis answers again.
     *
     * @param uncharged runs once for each of them, on any thread; must not block, and must not throw
     */
    public static QuotaOutagePolicy failOpen(Runnable uncharged) {
        return new QuotaOutagePolicy(true, uncharged);
    }

    boolean isOpen() {
        return isOpen;
    }

    void passedUncharged() {
        uncharged.run();
    }
}
