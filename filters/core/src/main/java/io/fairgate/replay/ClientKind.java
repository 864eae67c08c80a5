package io.fairgate.replay;

/** What decides when clients send requests. */
public enum ClientKind {
    /** They send the next request when they have the answer to the one before. */
    WAIT_FOR_ANSWERS,
    /** Requests come by themselves, as from many independent users. */
    COME_ANYWAY,
    /** The recording does not tell. */
    UNCLEAR
}
