package io.fairgate.gateway.redis;

import io.fairgate.redis.connection.RedisAddress;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SslOptions;
import io.lettuce.core.SslVerifyMode;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundles;

/**
 * Where Redis is, by the names that Spring Boot has for it. Names of Boot that are missing here are refused.
 *
 * @param url {@code redis://user:password@host:port/database}, or {@code rediss://} for TLS; instead of the single settings
 * @param host of the server
 * @param username with an ACL
 * @param database the number of the database
 * @param clientName the name of the connections, as {@code CLIENT LIST} shows it
 * @param ssl whether and how TLS is used
 * @param sentinel the sentinels that know the server
 * @param cluster nodes of a Redis Cluster
 */
@ConfigurationProperties(prefix = RedisServerSettings.PREFIX, ignoreUnknownFields = false)
public record RedisServerSettings(
        @Nullable String url,
        @DefaultValue("localhost") String host,
        @DefaultValue("6379") int port,
        @Nullable String username,
        @Nullable Secret password,
        @DefaultValue("0") int database,
        @DefaultValue("fairgate") String clientName,
        @DefaultValue Ssl ssl,
        @Nullable Sentinel sentinel,
        @Nullable Cluster cluster) {

    static final String PREFIX = "spring.data.redis";

    private static final int SENTINEL_PORT = 26379;

    /** A secret setting: logs and errors do not show it. */
    public record Secret(String value) {

        /** Spring calls this to convert the text of a property. */
        public static Secret of(String text) {
            return new Secret(text);
        }

        @Override
        public String toString() {
            return "(hidden)";
        }
    }

    /**
     * TLS.
     *
     * @param enabled by default when there is a bundle
     * @param bundle the name of an SSL bundle of Boot; without it the certificates of the JVM are trusted
     */
    public record Ssl(@Nullable Boolean enabled, @Nullable String bundle) {
        boolean isUsed() {
            return enabled == null ? bundle != null : enabled;
        }
    }

    /**
     * Sentinels.
     *
     * @param master the name of the server
     * @param nodes {@code host:port} of each sentinel
     * @param username of the sentinels themselves
     */
    public record Sentinel(
            String master,
            List<String> nodes,
            @Nullable String username,
            @Nullable Secret password) {}

    /**
     * A Redis Cluster.
     *
     * @param nodes {@code host:port} of some nodes
     */
    public record Cluster(List<String> nodes) {}

    /** @throws IllegalArgumentException naming settings that exclude each other, and malformed addresses */
    public RedisServerSettings {
        if (sentinel != null && cluster != null) {
            throw new IllegalArgumentException(PREFIX + ".cluster: set beside sentinel (expected: one of them)");
        }
        if (url != null && (sentinel != null || cluster != null)) {
            throw new IllegalArgumentException(PREFIX + ".url: set beside sentinel or cluster (expected: one of them)");
        }
        if (cluster != null && database != 0) {
            throw new IllegalArgumentException(
                    PREFIX + ".database: %d (expected: 0, a Redis Cluster has no other)".formatted(database));
        }
        if (url != null) {
            requireUrl(url);
        }
        if (sentinel != null) {
            sentinels(sentinel);
        }
        if (cluster != null) {
            nodes(cluster, port);
        }
    }

    /** The URL itself may have a password. */
    private static void requireUrl(String url) {
        try {
            RedisURI.create(url);
        } catch (IllegalArgumentException malformed) {
            throw new IllegalArgumentException(PREFIX
                    + ".url: malformed (expected: redis://USER:PASSWORD@HOST:PORT/DATABASE, or rediss:// for TLS)");
        }
    }

    private static List<HostAndPort> sentinels(Sentinel sentinel) {
        return sentinel.nodes().stream()
                .map(node -> HostAndPort.of(PREFIX + ".sentinel.nodes", node, SENTINEL_PORT))
                .toList();
    }

    private static List<HostAndPort> nodes(Cluster cluster, int defaultPort) {
        return cluster.nodes().stream()
                .map(node -> HostAndPort.of(PREFIX + ".cluster.nodes", node, defaultPort))
                .toList();
    }

    RedisAddress address(SslBundles bundles) {
        SslOptions options = ssl.bundle() == null ? SslOptions.create() : options(bundles.getBundle(ssl.bundle()));
        return new RedisAddress(uris(), cluster != null, options);
    }

    private List<RedisURI> uris() {
        if (cluster != null) {
            return nodes(cluster, port).stream().map(this::with).toList();
        }
        if (sentinel != null) {
            return List.of(withSentinels(sentinel));
        }
        if (url != null) {
            RedisURI uri = RedisURI.create(url);
            uri.setClientName(clientName);
            return List.of(uri);
        }
        return List.of(with(new HostAndPort(host, port)));
    }

    private RedisURI with(HostAndPort server) {
        return common(RedisURI.builder().withHost(server.host()).withPort(server.port()));
    }

    private RedisURI withSentinels(Sentinel known) {
        RedisURI.Builder builder = RedisURI.builder().withSentinelMasterId(known.master());
        for (HostAndPort address : sentinels(known)) {
            RedisURI.Builder each = RedisURI.builder().withHost(address.host()).withPort(address.port());
            authenticate(each, known.username(), known.password());
            encrypt(each);
            builder.withSentinel(each.build());
        }
        return common(builder);
    }

    private RedisURI common(RedisURI.Builder builder) {
        authenticate(builder, username, password);
        encrypt(builder);
        return builder.withDatabase(database).withClientName(clientName).build();
    }

    private void encrypt(RedisURI.Builder builder) {
        builder.withSsl(ssl.isUsed()).withVerifyPeer(SslVerifyMode.FULL);
    }

    private static void authenticate(RedisURI.Builder builder, @Nullable String username, @Nullable Secret password) {
        if (password != null) {
            char[] secret = password.value().toCharArray();
            if (username == null) {
                builder.withPassword(secret);
            } else {
                builder.withAuthentication(username, secret);
            }
        }
    }

    private static SslOptions options(SslBundle bundle) {
        SslOptions.Builder options = SslOptions.builder()
                .keyManager(bundle.getManagers().getKeyManagerFactory())
                .trustManager(bundle.getManagers().getTrustManagerFactory());
        String[] ciphers = bundle.getOptions().getCiphers();
        if (ciphers != null) {
            options.cipherSuites(ciphers);
        }
        String[] protocols = bundle.getOptions().getEnabledProtocols();
        if (protocols != null) {
            options.protocols(protocols);
        }
        return options.build();
    }
}
