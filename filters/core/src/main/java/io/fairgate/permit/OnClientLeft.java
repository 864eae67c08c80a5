package io.fairgate.permit;

/**
 * What happens to a request that an upstream has received completely and not answered, when its client has left or has been
 * given another answer. The pool itself does not use this setting; the code that forwards requests does.
 */
public enum OnClientLeft {
    /** The request waits for the upstream's answer and holds its permits until then, at most until {@code max-hold}. */
    FINISH,
    /** The connection to the upstream is closed at once, and the permits go to the next request. */
    CLOSE
}
