package io.fairgate.spring;

/** Servers disagree about what path this is. */
final class AmbiguousPathException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    AmbiguousPathException() {
        super("ambiguous path", null, false, false);
    }
}
