package io.fairgate.benchmarks;

import java.util.List;
import java.util.Map;

/** The lines of the report: each states what is measured, the baseline, and the required ratio. */
final class Lines {

    private Lines() {}

    static final Subject SEMAPHORE =
            Subject.of("`Semaphore`", UncontendedBenchmark.class, "semaphore", UncontendedBenchmark.BATCH);
    static final Subject FAIR_SEMAPHORE =
            Subject.of("fair `Semaphore`", UncontendedBenchmark.class, "fairSemaphore", UncontendedBenchmark.BATCH);
    static final Subject BULKHEAD = Subject.of(
            "Resilience4j's `SemaphoreBulkhead`", UncontendedBenchmark.class, "bulkhead", UncontendedBenchmark.BATCH);
    static final Subject TRY_ACQUIRE =
            Subject.of("`tryAcquire`, `release`", UncontendedBenchmark.class, "tryAcquire", UncontendedBenchmark.BATCH);
    static final Subject WITH_PERMIT =
            Subject.of("`withPermit`", UncontendedBenchmark.class, "withPermit", UncontendedBenchmark.SMALL_BATCH);

    static final Subject CONTENDED =
            Subject.of("`withPermit`", ContendedBenchmark.class, "fairgate", ContendedBenchmark.BATCH);
    static final Subject REACTOR_POOL =
            Subject.of("reactor-pool", ContendedBenchmark.class, "reactorPool", ContendedBenchmark.BATCH);
    private static final Subject CLOCKS =
            Subject.of("its four readings of clocks", QuotaBenchmark.class, "clocks", QuotaBenchmark.BATCH);
    private static final Subject DECIDE =
            Subject.of("`checkNow`, `chargeNow`", QuotaBenchmark.class, "decide", QuotaBenchmark.BATCH);
    private static final Subject SUBSCRIBE =
            Subject.of("`check`, `charge`", QuotaBenchmark.class, "subscribe", QuotaBenchmark.BATCH);
    private static final Subject READ = Subject.of("`PolicyReader`", PolicyBenchmark.class, "read", 1);
    private static final Subject PARSE = Subject.of("SnakeYAML's node tree", PolicyBenchmark.class, "parse", 1);
    private static final Subject GRANT = Subject.of("scheduler", GrantBenchmark.class, "grant", GrantBenchmark.BATCH);
    private static final Subject CANCEL = Subject.of("cancel", CancelBenchmark.class, "cancel", CancelBenchmark.BATCH);

    static List<Line> all() {
        return List.of(
                new Line("`tryAcquire` and `release`, 1 thread", TRY_ACQUIRE, List.of(SEMAPHORE), 2, """
                        The cost of a request that does not wait. Bounded by two compare-and-sets, which is all that a `Semaphore` \
                        does, and by the one object that represents the held permit."""),
                new Line(
                        "`tryAcquire` and `release`, 2 threads",
                        TRY_ACQUIRE.byThreads(2),
                        List.of(FAIR_SEMAPHORE.byThreads(2), BULKHEAD.byThreads(2)),
                        1,
                        """
                        Bounded by the memory that both threads write: one word in a semaphore, one of several cells here. \
                        The line is meaningful only if two threads really run at the same time."""),
                new Line(
                        "`withPermit` with work that completes at once, 1 thread",
                        WITH_PERMIT,
                        List.of(SEMAPHORE),
                        Line.NO_LIMIT,
                        """
                        The operator adds a subscription, the state for its cancellation, and readings of the clock."""),
                contended("1 thread", 1, """
                        4 permits and 64 requests of 8 tenants at any time. A permit is released, the next request gets it, and a new \
                        request waits: the normal work of a full gateway. Both sides bound every wait; only Fairgate also bounds \
                        holds. About half of the time is what fairness needs and a queue does not: two changes of an account, and \
                        the next key. A fifth of it is three readings of the clock."""),
                contended("2 threads", 2, """
                        Both threads release to the same pool. Bounded by the thread that runs the drain: the events of the other \
                        thread travel from cache to cache."""),
                new Line(
                        "grant with 10,000 backlogged tenants",
                        GRANT.with(Map.of("tenants", "10000")),
                        List.of(GRANT.with(Map.of("tenants", "10")).named("10 tenants")),
                        3,
                        """
                        The scheduler alone. Bounded by the depth of the heap (13 levels instead of 3), and by accounts that no \
                        longer fit into the innermost cache."""),
                cancel("scheduler", "the scheduler alone", 1, """
                        A cancellation takes the same few steps anywhere in a queue of any length. The difference is memory: \
                        of 100,000 waiters most are no longer in the cache, of 100 all are."""),
                cancel("scheduler", "the scheduler alone", 1000, """
                        The same against as many waiters in 1,000 queues: as much memory, in queues that are 1,000 times \
                        shorter. A queue fails here if a cancellation takes longer the more requests wait in it."""),
                cancel("pool", "a pool", 1, """
                        As above. The subscription, the state and the deadline of each waiter must be fetched as well."""),
                new Line("check and charge two quotas, direct calls", DECIDE, List.of(CLOCKS), Line.NO_LIMIT, """
                        A rate and a calendar quota of one tenant. Bounded by the readings of both clocks, for the check and \
                        for the charge, and by taking the tenant's lock twice."""),
                new Line("check and charge two quotas, subscribed", SUBSCRIBE, List.of(DECIDE), Line.NO_LIMIT, """
                        The gateway does this for each request: two subscriptions, and a charge that can be settled."""),
                new Line("read a policy of 10,000 tenants", READ, List.of(PARSE), 2, """
                        Each tenant has a key and two quotas. The time is from the text to the checked policy. Both sides \
                        build the node tree."""));
    }

    private static Line contended(String how, int threads, String meaning) {
        return new Line(
                "release, grant and enqueue in a full pool, " + how,
                CONTENDED.byThreads(threads),
                List.of(REACTOR_POOL.byThreads(threads)),
                0.5,
                meaning);
    }

    private static Line cancel(String kind, String where, int queues, String meaning) {
        Subject many = CANCEL.with(Map.of("kind", kind, "waiters", "100000", "queues", "1"));
        Subject few = CANCEL.with(Map.of("kind", kind, "waiters", "100", "queues", Integer.toString(queues)));
        return new Line(
                "cancel one of 100,000 waiters of " + where,
                many,
                List.of(few.named(queues == 1 ? "one of 100" : "one of 100, in each of 1,000 queues")),
                1.5,
                meaning);
    }
}
