package io.fairgate.redis.slice;

import java.util.Map;

/**
 * What the ledger answers to a heartbeat.
 *
 * @param sequence of the heartbeat
 * @param now the state of the ledger after the heartbeat
 * @param slice the permits that the node may use until its term ends
 * @param isRecovering whether no slice grows at the moment
 * @param hasRoom whether all slices and leases together are at most what is divided: a node with a smaller limit may have come
 * @param tokens of the leases of the heartbeat, by id; those that are missing have ended
 * @param demands what each live node told last, by its name; empty when the heartbeat was not recorded
 */
record SliceAnswer(
        Outcome outcome,
        long sequence,
        LedgerVersion now,
        int slice,
        boolean isRecovering,
        boolean hasRoom,
        Map<String, Long> tokens,
        Map<String, String> demands) {

    enum Outcome {
        /** The heartbeat was recorded. */
        RECORDED,
        /** A later heartbeat of the node was recorded before. */
        STALE,
        /** The node's term had ended, or it has asserted too much twice: it has nothing, and begins again under another name. */
        ENDED
    }

    SliceAnswer {
        tokens = Map.copyOf(tokens);
        demands = Map.copyOf(demands);
        if (slice < 0) {
            throw new IllegalArgumentException("slice: %d (expected: >= 0)".formatted(slice));
        }
    }
}
