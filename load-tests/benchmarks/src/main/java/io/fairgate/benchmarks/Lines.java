package io.fairgate.benchmarks;

import java.util.List;
import java.util.Map;

/** What is measured, and against what; the requirements of the core, one by one. */
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
    private static final Subject CLOCKS = Subject.of(
            "the four readings of clocks that it needs", QuotaBenchmark.class, "clocks", QuotaBenchmark.BATCH);
    private static final Subject DECIDE =
            Subject.of("`checkNow`, `chargeNow`", QuotaBenchmark.class, "decide", QuotaBenchmark.BATCH);
    private static final Subject SUBSCRIBE =
            Subject.of("`check`, `charge`", QuotaBenchmark.class, "subscribe", QuotaBenchmark.BATCH);
    private static final Subject READ = Subject.of("`PolicyReader`", PolicyBenchmark.class, "read", 1);
    private static final Subject PARSE = Subject.of("SnakeYAML's tree of nodes", PolicyBenchmark.class, "parse", 1);
    private static final Subject GRANT = Subject.of("scheduler", GrantBenchmark.class, "grant", GrantBenchmark.BATCH);
    private static final Subject CANCEL = Subject.of("cancel", CancelBenchmark.class, "cancel", CancelBenchmark.BATCH);

    static List<Line> all() {
        return List.of(
                new Line("`tryAcquire` and `release`, 1 thread", TRY_ACQUIRE, List.of(SEMAPHORE), 2, """
                        What a request pays that need not wait. Bounded by two compare-and-sets, which is all a `Semaphore` does, \
                        and by the one object that says who holds the permit."""),
                new Line(
                        "`tryAcquire` and `release`, 2 threads",
                        TRY_ACQUIRE.byThreads(2),
                        List.of(FAIR_SEMAPHORE.byThreads(2), BULKHEAD.byThreads(2)),
                        1,
                        """
                        Bounded by the memory that both threads write: one word in a semaphore, one of several cells here. \
                        Says something only on a machine on which two threads really run at once."""),
                new Line(
                        "`withPermit` of a work that is complete at once, 1 thread",
                        WITH_PERMIT,
                        List.of(SEMAPHORE),
                        Line.NO_LIMIT,
                        """
                        What the operator adds: a subscription, the state that lets it be cancelled, readings of the clock."""),
                contended("1 thread", 1, """
                        4 permits, and 64 requests of 8 tenants, always: a permit comes back, the next request gets it, another \
                        one waits. What a gateway that is full does all day. Both sides bound every wait; only Fairgate bounds \
                        holds as well. Bounded by what fairness needs and a queue does not, which is about half of it: two changes \
                        of an account, and the next key; and by three readings of the clock, a fifth of it."""),
                contended("2 threads", 2, """
                        Both threads give back at the same pool. Bounded by the one that drains: what the other one has to tell \
                        travels from cache to cache."""),
                new Line(
                        "grant with 10,000 backlogged tenants",
                        GRANT.with(Map.of("tenants", "10000")),
                        List.of(GRANT.with(Map.of("tenants", "10")).named("with 10")),
                        3,
                        """
                        The scheduler alone. Bounded by the depth of the heap, 13 levels instead of 3, and by accounts that no \
                        longer fit the innermost cache."""),
                cancel("scheduler", "the scheduler alone", 1, """
                        Leaving takes the same few steps from anywhere in a queue of any length. What is left is memory: \
                        whoever leaves was written long ago, and so were its neighbours; of 100 waiters all are in the cache."""),
                cancel("scheduler", "the scheduler alone", 1000, """
                        The same against as many waiters in 1,000 queues: as much memory, and queues that are 1,000 times \
                        shorter. A queue in which leaving takes longer the more are in it fails here."""),
                cancel("pool", "a pool", 1, """
                        As above, with the subscription, the state and the deadline of each waiter, which have to be fetched as \
                        well."""),
                new Line("check and charge two quotas, at once", DECIDE, List.of(CLOCKS), Line.NO_LIMIT, """
                        A rate and a calendar quota of one tenant. Bounded by the readings of both clocks, for the check and \
                        for the charge, and by taking the tenant's lock twice."""),
                new Line("check and charge two quotas, subscribed to", SUBSCRIBE, List.of(DECIDE), Line.NO_LIMIT, """
                        What the gateway does for each request: two subscriptions, and the charge that can be settled."""),
                new Line("read a policy of 10,000 tenants", READ, List.of(PARSE), 2, """
                        Each with a key and two quotas, from text to a policy that is checked as a whole. The tree of nodes \
                        is part of both."""));
    }

    private static Line contended(String how, int threads, String meaning) {
        return new Line(
                "a full pool takes back, grants and queues, " + how,
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
