package io.fairgate.gateway.cache;

/** The file could not be made; the message says why. */
public final class StartCacheException extends Exception {

    private static final long serialVersionUID = 1L;

    StartCacheException(String message) {
        super(message);
    }
}
