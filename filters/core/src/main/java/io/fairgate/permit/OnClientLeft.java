package io.fairgate.permit;

/**
 * What becomes of a request that an upstream has received completely and not answered, when its client has left or has been
 * given another answer. A pool does not look at this: it is for whoever forwards requests with its permits.
 */
public enum OnClientLeft {
    /** The upstream is waited for, and the request holds its permits until then, at most until {@code max-hold}. */
    FINISH,
    /** The connection to the upstream is closed at once, and the permits go to the next request. */
    CLOSE
}
