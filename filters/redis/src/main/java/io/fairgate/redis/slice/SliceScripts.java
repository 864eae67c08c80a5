package io.fairgate.redis.slice;

import io.fairgate.redis.connection.RedisScript;
import io.fairgate.redis.slice.SliceAnswer.Outcome;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The scripts that keep the ledger of a pool in Redis, with their keys, arguments and answers.
 *
 * @param failoverMillis how long a server that was replaced may go on to accept writes
 */
record SliceScripts(SliceTerm term, long failoverMillis) {

    /** In the answer to a heartbeat. */
    private static final int FIRST_LEASE = 7;

    /** Where the scripts publish that a call has made permits free. */
    static String channel(String pool) {
        return prefix(pool) + "free";
    }

    /** Where a node calls the others. */
    static String calls(String pool) {
        return prefix(pool) + "calls";
    }

    private static String prefix(String pool) {
        return "fairgate:{" + pool + "}:";
    }

    /** All keys of a pool have the same tag, so that a Redis Cluster keeps them on one node. */
    static String[] keys(String pool) {
        String prefix = prefix(pool);
        return new String[] {
            prefix + "ledger", prefix + "nodes", prefix + "leases", prefix + "due", prefix + "ended", prefix + "demands"
        };
    }

    static String heartbeat(String clock) {
        return script(clock, "heartbeat.lua");
    }

    static String extend(String clock) {
        return script(clock, "extend.lua");
    }

    static String release(String clock) {
        return script(clock, "release.lua");
    }

    static String call() {
        return read("call.lua");
    }

    private static String script(String clock, String command) {
        return clock + read("ledger.lua") + read(command);
    }

    private static String read(String name) {
        return RedisScript.read(SliceScripts.class, name);
    }

    /** @param server identifies the server, for servers that do not say so themselves */
    String[] arguments(Heartbeat beat, String server) {
        List<String> all = new ArrayList<>(common(beat.seen(), server));
        all.add(beat.node());
        all.add(Long.toString(beat.sequence()));
        all.add(Integer.toString(beat.kept()));
        all.add(Integer.toString(beat.wanted()));
        all.add(Integer.toString(beat.limit()));
        all.add(beat.isLast() ? "1" : "0");
        all.add(beat.demand());
        for (LeaseClaim lease : beat.leases()) {
            all.add(lease.id());
            all.add(Integer.toString(lease.permits()));
            all.add(Long.toString(lease.ttlMillis()));
            all.add(Long.toString(lease.token()));
        }
        return all.toArray(String[]::new);
    }

    /** The arguments of {@code release}. */
    String[] release(String leaseId, long token, LedgerVersion seen, String server) {
        return onLease(leaseId, token, seen, server).toArray(String[]::new);
    }

    /** The arguments of {@code extend}. */
    String[] extend(String leaseId, long token, long ttlMillis, LedgerVersion seen, String server) {
        List<String> all = onLease(leaseId, token, seen, server);
        all.add(Long.toString(ttlMillis));
        return all.toArray(String[]::new);
    }

    private List<String> onLease(String leaseId, long token, LedgerVersion seen, String server) {
        List<String> all = new ArrayList<>(common(seen, server));
        all.add(leaseId);
        all.add(Long.toString(token));
        return all;
    }

    private List<String> common(LedgerVersion seen, String server) {
        return List.of(
                server,
                Long.toString(term.ttl().toMillis()),
                Long.toString(term.maxStep().toMillis()),
                Long.toString(failoverMillis),
                Long.toString(seen.epoch()),
                Long.toString(seen.version()));
    }

    /** @param answer of the script, with integers as {@code Long}, and text as {@code String} */
    static SliceAnswer answer(Heartbeat beat, List<Object> answer) {
        Map<String, Long> tokens = new HashMap<>();
        int demandsFrom = FIRST_LEASE + 2 * number(answer, 6);
        for (int i = FIRST_LEASE; i < demandsFrom; i += 2) {
            tokens.put((String) answer.get(i), (Long) answer.get(i + 1));
        }
        Map<String, String> demands = new HashMap<>();
        for (int i = demandsFrom; i < answer.size(); i += 2) {
            demands.put((String) answer.get(i), (String) answer.get(i + 1));
        }
        return new SliceAnswer(
                Outcome.valueOf((String) answer.get(0)),
                beat.sequence(),
                new LedgerVersion((Long) answer.get(1), (Long) answer.get(2)),
                number(answer, 3),
                number(answer, 4) == 1,
                number(answer, 5) == 1,
                tokens,
                demands);
    }

    /** @param answer of {@code extend} */
    static boolean isHeld(List<Object> answer) {
        return isHeld(number(answer, 0) == 1, number(answer, 3) == 1);
    }

    /** Throws {@link IllegalStateException} when nodes may assert the lease. */
    static boolean isHeld(boolean isHeld, boolean isRecovering) {
        if (!isHeld && isRecovering) {
            throw new IllegalStateException("the ledger has lost writes, and its nodes assert what they know");
        }
        return isHeld;
    }

    private static int number(List<Object> answer, int index) {
        return Math.toIntExact((Long) answer.get(index));
    }
}
