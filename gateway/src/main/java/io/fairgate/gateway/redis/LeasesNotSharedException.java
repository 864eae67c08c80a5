package io.fairgate.gateway.redis;

/** Leases are kept in one gateway: with pools in Redis, another gateway would take their permits when this one ends. */
public final class LeasesNotSharedException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    LeasesNotSharedException(String setting) {
        super("%s: true (expected: false with %s=redis, because leases are not in Redis)"
                .formatted(setting, BackendSettings.PROPERTY));
    }
}
