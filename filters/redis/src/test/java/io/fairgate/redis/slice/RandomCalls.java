package io.fairgate.redis.slice;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;

/** Calls to a ledger as correct and incorrect nodes send them: repeated, late, with too much kept, and after writes were lost. */
final class RandomCalls {

    enum Kind {
        HEARTBEAT,
        EXTEND,
        RELEASE,
        TIME,
        OTHER_SERVER,
        FLUSH
    }

    record LeaseCall(String id, long token, long ttlMillis, LedgerVersion seen) {}

    private static final int LIMIT = 20;

    private final SplittableRandom random;
    private final Map<String, Long> sequences = new HashMap<>();
    private final Map<String, Long> tokens = new HashMap<>();
    private final Set<SliceAnswer.Outcome> outcomes = EnumSet.noneOf(SliceAnswer.Outcome.class);
    private LedgerVersion seen = LedgerVersion.NONE;
    private int ids;
    private int servers;

    RandomCalls(SplittableRandom random) {
        this.random = random;
    }

    Kind next() {
        int n = random.nextInt(1_000);
        if (n < 2) {
            return Kind.FLUSH;
        }
        if (n < 8) {
            return Kind.OTHER_SERVER;
        }
        if (n < 400) {
            return Kind.TIME;
        }
        return n < 550 ? Kind.EXTEND : n < 620 ? Kind.RELEASE : Kind.HEARTBEAT;
    }

    long step() {
        int n = random.nextInt(100);
        return n < 90 ? random.nextLong(200) : n < 96 ? random.nextLong(20_000) : -random.nextLong(20_000);
    }

    String identity() {
        return "server-" + servers++;
    }

    LeaseCall lease() {
        String id = "lease-" + random.nextInt(Math.max(1, ids));
        long token = random.nextInt(4) == 0 ? 0 : tokens.getOrDefault(id, 7L) + (random.nextInt(10) == 0 ? 1 : 0);
        return new LeaseCall(id, token, 500 + random.nextLong(9_000), seen());
    }

    private LedgerVersion seen() {
        int n = random.nextInt(200);
        return n == 0 ? new LedgerVersion(seen.epoch() + 1, 0) : n < 100 ? seen : LedgerVersion.NONE;
    }

    Heartbeat heartbeat(LedgerState state) {
        String node = "node-" + (random.nextInt(4) + random.nextInt(2) * (int) (state.clock / 5_000));
        long sequence = sequences.merge(node, 1L, Long::sum);
        if (random.nextInt(20) == 0) {
            sequence = 1 + random.nextLong(sequence);
        }
        LedgerState.Node known = state.nodes.get(node);
        int slice = known == null ? 0 : known.slice();
        boolean isLast = random.nextInt(50) == 0;
        List<LeaseClaim> leases = isLast ? List.of() : leases(slice);
        int moved = leases.stream()
                .filter(LeaseClaim::isNew)
                .mapToInt(LeaseClaim::permits)
                .sum();
        int kept = isLast ? 0 : Math.max(0, slice - moved - random.nextInt(3)) + (random.nextInt(40) == 0 ? 3 : 0);
        String demand = "of heartbeat " + random.nextInt(1_000);
        int limit = random.nextInt(30) == 0 ? LIMIT - 5 : LIMIT;
        return new Heartbeat(node, sequence, seen(), kept, random.nextInt(LIMIT + 5), limit, leases, demand, isLast);
    }

    private List<LeaseClaim> leases(int slice) {
        List<LeaseClaim> leases = new ArrayList<>();
        if (slice > 0 && random.nextInt(3) == 0) {
            // Also one that was recorded before, as after a lost answer.
            String id = "lease-" + (random.nextInt(3) > 0 ? ids++ : random.nextInt(ids + 1));
            leases.add(new LeaseClaim(id, 1 + random.nextInt(Math.min(3, slice)), 500 + random.nextLong(9_000), 0));
        }
        if (!tokens.isEmpty() && random.nextInt(10) == 0) {
            tokens.entrySet().stream()
                    .skip(random.nextInt(tokens.size()))
                    .limit(3)
                    .forEach(each -> leases.add(new LeaseClaim(each.getKey(), 1, 4_000, each.getValue())));
        }
        return leases;
    }

    void answered(SliceAnswer answer) {
        outcomes.add(answer.outcome());
        seen = answer.now();
        tokens.putAll(answer.tokens());
    }

    Set<SliceAnswer.Outcome> kinds() {
        return outcomes;
    }
}
