package io.fairgate.client;

import java.net.URI;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.scheduler.Scheduler;

/**
 * Where the lease API is, and how it is spoken to.
 *
 * @param uri {@code http} or {@code https}, with or without a path in front of {@code /v1}
 * @param credential the field that names the tenant; null when something on the way sets it
 * @param connections how many at most: that many for calls that wait for permits, and as many again for all others, so that
 *     who waits never keeps a lease from being extended. Calls beyond them wait for a connection, at most for their own time
 * @param time clock and timer. The clock must not jump as the wall clock does, for it tells until when a lease is held
 */
public record LeaseServer(URI uri, @Nullable Credential credential, int connections, Scheduler time) {

    private static final int CONNECTIONS = 32;

    public LeaseServer {
        boolean isHttp = "http".equalsIgnoreCase(uri.getScheme()) || "https".equalsIgnoreCase(uri.getScheme());
        if (!isHttp || uri.getHost() == null || uri.getRawQuery() != null || uri.getRawFragment() != null) {
            throw new IllegalArgumentException(
                    "uri: %s (expected: http://HOST:PORT or https://HOST:PORT)".formatted(uri));
        }
        if (uri.getRawUserInfo() != null) {
            throw new IllegalArgumentException("uri: with user information (expected: a credential in a header)");
        }
        if (connections < 1) {
            throw new IllegalArgumentException("connections: %d (expected: >= 1)".formatted(connections));
        }
    }

    /**
     * A field of every call.
     *
     * @param header its name, such as {@code X-Api-Key}
     * @param value asked before each call, so that it may change; must not block. What it throws ends what waits for
     *     permits; a lease that is held is tried to be extended until it is lost
     */
    public record Credential(String header, Supplier<String> value) {

        public Credential {
            if (header.isBlank()) {
                throw new IllegalArgumentException("header: blank (expected: a name)");
            }
        }

        /** Without the value, which is a secret. */
        @Override
        public String toString() {
            return header;
        }
    }

    /** Without a credential, with 32 connections of either kind and a clock that cannot be set. */
    public static LeaseServer at(URI uri) {
        return new LeaseServer(uri, null, CONNECTIONS, MonotonicTime.INSTANCE);
    }

    public LeaseServer withCredential(String header, Supplier<String> value) {
        return new LeaseServer(uri, new Credential(header, value), connections, time);
    }

    public LeaseServer withConnections(int newConnections) {
        return new LeaseServer(uri, credential, newConnections, time);
    }

    public LeaseServer withTime(Scheduler newTime) {
        return new LeaseServer(uri, credential, connections, newTime);
    }
}
