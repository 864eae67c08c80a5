package io.fairgate.redis.connection;

import io.lettuce.core.RedisURI;
import io.lettuce.core.SslOptions;
import java.util.List;

/**
 * Where Redis is.
 *
 * @param uris one URI, which may name a server or sentinels; or some nodes of a Redis Cluster. They also say user, password,
 *     database and whether TLS is used; their timeouts are replaced
 * @param isCluster whether they are nodes of a Redis Cluster
 * @param ssl trusted and own certificates, for URIs with TLS
 */
public record RedisAddress(List<RedisURI> uris, boolean isCluster, SslOptions ssl) {

    /** @throws IllegalArgumentException when there is no URI, or more than one without a Cluster */
    public RedisAddress {
        uris = List.copyOf(uris);
        if (uris.isEmpty() || (uris.size() > 1 && !isCluster)) {
            throw new IllegalArgumentException("%d URIs of Redis (expected: 1%s)"
                    .formatted(uris.size(), isCluster ? " or more" : ", or nodes of a Cluster"));
        }
    }

    /** One server, or the sentinels that know it. */
    public static RedisAddress of(RedisURI uri) {
        return new RedisAddress(List.of(uri), false, SslOptions.create());
    }
}
