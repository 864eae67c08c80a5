package io.fairgate.load.kit;

/** How a request ended. */
enum Outcome {
    /** With a status that the plan takes for an answer. */
    ANSWERED,
    /** By the gateway: 429 or 503. */
    REFUSED,
    /** With any other status, or without one. */
    FAILED
}
