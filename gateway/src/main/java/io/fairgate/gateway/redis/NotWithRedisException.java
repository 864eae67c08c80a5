package io.fairgate.gateway.redis;

/** A setting that has no meaning, or would do harm, when pools and quotas are in Redis. */
public final class NotWithRedisException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private NotWithRedisException(String setting, String found, String expected, String why) {
        super("%s: %s (expected: %s with %s=redis, because %s)"
                .formatted(setting, found, expected, BackendSettings.PROPERTY, why));
    }

    static NotWithRedisException fencingFile(String setting, String file) {
        return new NotWithRedisException(setting, file, "none", "the fencing tokens are in Redis");
    }

    static NotWithRedisException journal(String setting, String file) {
        return new NotWithRedisException(setting, file, "none", "the usage of quotas is in Redis");
    }
}
