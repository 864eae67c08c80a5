package io.fairgate.gateway.redis;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** An address in the text {@code host:port}, {@code host} or {@code [IPv6 address]:port}. */
record HostAndPort(String host, int port) {

    private static final int LAST_PORT = 65_535;

    /** @throws IllegalArgumentException naming the setting, when the list is empty or an address is malformed */
    static List<HostAndPort> all(String setting, @Nullable List<String> texts, int defaultPort) {
        if (texts == null || texts.isEmpty()) {
            throw new IllegalArgumentException("%s: none (expected: HOST:PORT, or several)".formatted(setting));
        }
        return texts.stream().map(text -> of(setting, text, defaultPort)).toList();
    }

    /** @throws IllegalArgumentException naming the setting, what was found and what was expected */
    static HostAndPort of(String setting, String text, int defaultPort) {
        int colon = text.lastIndexOf(':');
        boolean hasPort = colon > text.lastIndexOf(']');
        String host = hasPort ? text.substring(0, colon) : text;
        if (host.startsWith("[") && host.endsWith("]")) {
            host = host.substring(1, host.length() - 1);
        }
        int port = defaultPort;
        try {
            port = hasPort ? Integer.parseInt(text.substring(colon + 1)) : defaultPort;
        } catch (NumberFormatException e) {
            port = 0;
        }
        if (host.isBlank() || port < 1 || port > LAST_PORT) {
            throw new IllegalArgumentException("%s: %s (expected: HOST:PORT)".formatted(setting, text));
        }
        return new HostAndPort(host, port);
    }
}
