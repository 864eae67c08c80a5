package io.fairgate.spring;

/** The upstream answered with {@code 101 Switching Protocols} to a request that asked for no other protocol. */
final class UnaskedUpgradeException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    UnaskedUpgradeException() {
        super("the upstream switched protocols without being asked", null, false, false);
    }
}
