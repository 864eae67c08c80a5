package io.fairgate.client;

import java.net.URI;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import reactor.core.scheduler.Scheduler;

/**
 * The address of the lease API, and how the client connects to it.
 *
 * @param uri {@code http} or {@code https}, with or without a path in front of {@code /v1}
 * @param credential the header that identifies the tenant; null when a proxy on the way sets it
 * @param connections the most connections for calls that wait for permits, and again as many for all other calls, so that
 *     waiting calls never delay an extension. Further calls wait for a connection, at most for their own time
 * @param time clock and timer. The clock must not jump as the wall clock does, because it decides until when a lease is held
 */
public record LeaseClientSettings(URI uri, @Nullable Credential credential, int connections, Scheduler time) {

    private static final int CONNECTIONS = 32;

    public LeaseClientSettings {
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
     * A header of every call.
     *
     * @param header its name, such as {@code X-Api-Key}
     * @param value called before each call, so that the value may change; must not block. When it throws, a wait for permits
     *     ends with that error; the extension of a held lease is repeated until the lease is lost
     */
    public record Credential(String header, Supplier<String> value) {

        /** RFC 9110, 5.6.2. */
        private static final Pattern NAME = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]+");

        public Credential {
            if (!NAME.matcher(header).matches()) {
                throw new IllegalArgumentException(
                        "header: %s (expected: the name of a header)".formatted(header.isBlank() ? "blank" : header));
            }
        }

        /** The value for the next call. Errors without it when it would be more than one line, and so begin another header. */
        String current() {
            String now = value.get();
            if (now.chars().anyMatch(Character::isISOControl)) {
                throw new IllegalStateException(
                        "credential for %s: with a control character (expected: one line of text)".formatted(header));
            }
            return now;
        }

        /** Leaves out the value, which is a secret. */
        @Override
        public String toString() {
            return header;
        }
    }

    /** No credential, 32 connections of either kind, and a clock that cannot be set. */
    public static LeaseClientSettings at(URI uri) {
        return new LeaseClientSettings(uri, null, CONNECTIONS, MonotonicTime.INSTANCE);
    }

    public LeaseClientSettings withCredential(String header, Supplier<String> value) {
        return new LeaseClientSettings(uri, new Credential(header, value), connections, time);
    }

    public LeaseClientSettings withConnections(int newConnections) {
        return new LeaseClientSettings(uri, credential, newConnections, time);
    }

    public LeaseClientSettings withTime(Scheduler newTime) {
        return new LeaseClientSettings(uri, credential, connections, newTime);
    }
}
