package io.fairgate.gateway.redis;

import io.fairgate.redis.connection.RedisAddress;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SslOptions;
import io.lettuce.core.SslVerifyMode;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.ssl.NoSuchSslBundleException;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundles;

/**
 * Where Redis is, by the names that Spring Boot has for it. Names of Boot that are missing here are refused.
 *
 * @param url {@code redis://user:password@host:port/database}, or {@code rediss://} for TLS; instead of the single settings
 * @param host of the server; localhost by default
 * @param username with an ACL
 * @param database the number of the database
 * @param clientName the name of the connections, as {@code CLIENT LIST} shows it
 * @param ssl whether and how TLS is used
 * @param sentinel the sentinels that know the server
 * @param cluster nodes of a Redis Cluster
 */
@ConfigurationProperties(prefix = RedisServerSettings.PREFIX, ignoreUnknownFields = false)
public record RedisServerSettings(
        @Nullable Secret url,
        @Nullable String host,
        @Nullable Integer port,
        @Nullable String username,
        @Nullable Secret password,
        @Nullable Integer database,
        @DefaultValue("fairgate") String clientName,
        @DefaultValue Ssl ssl,
        @Nullable Sentinel sentinel,
        @Nullable Cluster cluster) {

    public static final String PREFIX = "spring.data.redis";

    private static final String DEFAULT_HOST = "localhost";
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
            @Nullable String master,
            @Nullable List<String> nodes,
            @Nullable String username,
            @Nullable Secret password) {

        private static final String NODES = PREFIX + ".sentinel.nodes";

        /** @throws IllegalArgumentException naming what is missing or malformed */
        public Sentinel {
            require(master, PREFIX + ".sentinel.master", "the name of the server");
            HostAndPort.all(NODES, nodes, SENTINEL_PORT);
            requirePassword(username, password, PREFIX + ".sentinel");
        }

        List<HostAndPort> addresses() {
            return HostAndPort.all(NODES, nodes, SENTINEL_PORT);
        }
    }

    /**
     * A Redis Cluster.
     *
     * @param nodes {@code host:port} of some nodes
     */
    public record Cluster(@Nullable List<String> nodes) {

        private static final String NODES = PREFIX + ".cluster.nodes";

        /** @throws IllegalArgumentException naming what is missing or malformed */
        public Cluster {
            HostAndPort.all(NODES, nodes, RedisURI.DEFAULT_REDIS_PORT);
        }

        List<HostAndPort> addresses() {
            return HostAndPort.all(NODES, nodes, RedisURI.DEFAULT_REDIS_PORT);
        }
    }

    /** @throws IllegalArgumentException naming settings that exclude each other, and a malformed URL */
    public RedisServerSettings {
        requirePassword(username, password, PREFIX);
        if (url != null) {
            requireUrl(url.value());
            requireNone("url", "host", host, "port", port, "username", username, "password", password);
            requireNone("url", "database", database, "sentinel", sentinel, "cluster", cluster);
        }
        if (sentinel != null) {
            requireNone("sentinel", "host", host, "port", port, "cluster", cluster);
        }
        if (cluster != null) {
            requireNone("cluster", "host", host, "port", port, "database", database);
        }
    }

    /** @param others names and values of settings that may not be set beside the first */
    private static void requireNone(String first, @Nullable Object... others) {
        for (int i = 0; i < others.length; i += 2) {
            if (others[i + 1] != null) {
                throw new IllegalArgumentException(
                        "%s.%s: set beside %s (expected: one of them)".formatted(PREFIX, others[i], first));
            }
        }
    }

    private static void require(@Nullable Object value, String setting, String expected) {
        if (value == null) {
            throw new IllegalArgumentException("%s: missing (expected: %s)".formatted(setting, expected));
        }
    }

    private static void requirePassword(@Nullable String username, @Nullable Secret password, String prefix) {
        if (username != null) {
            require(password, prefix + ".password", "the password of " + username);
        }
    }

    /** The URL may have a password, so the message does not show it. */
    private static void requireUrl(String url) {
        try {
            RedisURI.create(url);
        } catch (IllegalArgumentException malformed) {
            throw new IllegalArgumentException(PREFIX
                    + ".url: malformed (expected: redis://USER:PASSWORD@HOST:PORT/DATABASE, or rediss:// for TLS)");
        }
    }

    RedisAddress address(SslBundles bundles) {
        SslOptions options = ssl.bundle() == null ? SslOptions.create() : options(bundle(ssl.bundle(), bundles));
        return new RedisAddress(uris(), cluster != null, options);
    }

    private static SslBundle bundle(String name, SslBundles bundles) {
        try {
            return bundles.getBundle(name);
        } catch (NoSuchSslBundleException missing) {
            throw new InvalidConfigurationPropertyValueException(
                    PREFIX + ".ssl.bundle", name, "there is no such bundle (expected: a name below spring.ssl.bundle)");
        }
    }

    private List<RedisURI> uris() {
        if (cluster != null) {
            return cluster.addresses().stream().map(this::with).toList();
        }
        if (sentinel != null) {
            return List.of(withSentinels(sentinel));
        }
        if (url != null) {
            RedisURI uri = RedisURI.create(url.value());
            uri.setSsl(uri.isSsl() || ssl.isUsed());
            uri.setVerifyPeer(SslVerifyMode.FULL);
            uri.setClientName(clientName);
            return List.of(uri);
        }
        return List.of(with(new HostAndPort(
                host == null ? DEFAULT_HOST : host, port == null ? RedisURI.DEFAULT_REDIS_PORT : port)));
    }

    private RedisURI with(HostAndPort server) {
        return common(RedisURI.builder().withHost(server.host()).withPort(server.port()));
    }

    private RedisURI withSentinels(Sentinel known) {
        RedisURI.Builder builder = RedisURI.builder().withSentinelMasterId(Objects.requireNonNull(known.master()));
        for (HostAndPort address : known.addresses()) {
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
        return builder.withDatabase(database == null ? 0 : database)
                .withClientName(clientName)
                .build();
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
