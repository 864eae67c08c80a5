package io.fairgate.redis.slice;

/** A rule of the ledger or of its nodes without which the pool can be exceeded. */
enum Guard {
    /** The ledger's clock follows a leap of Redis' clock by a small step only. */
    LIMITED_STEPS,
    /** Another server, or one that was restarted, may have lost writes. */
    SERVER_IDENTITY,
    /** A node that has seen a later state proves that writes were lost. */
    SEEN_VERSIONS,
    /** A node that keeps more than is recorded proves that writes were lost. */
    KEPT_IS_EVIDENCE,
    /** Nothing grows while the ledger may lack what a lost one has given. */
    RECOVERY,
    /** A heartbeat that comes after a later one is not recorded. */
    SEQUENCE,
    /** A node takes the answer to its latest heartbeat only. */
    LATEST_ANSWER,
    /** The ledger remembers for a while which nodes have ended. */
    ENDED_NODES,
    /** A lease that the ledger knows is not moved out of the slice again. */
    LEASE_ONCE,
    /** A lease that has ended is not recorded again by a repeated heartbeat. */
    ENDED_LEASES
}
