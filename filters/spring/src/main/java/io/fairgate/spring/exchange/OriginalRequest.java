package io.fairgate.spring.exchange;

import java.net.InetAddress;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A request as the client sent it, before any trusted proxy passed it on.
 *
 * @param client the address of the client; null when a proxy does not know it
 * @param way the addresses that the request came from, as text: that of the client, or {@value #UNKNOWN}, then those of the
 *     proxies; the last one is that of the gateway's connection
 * @param scheme {@code http} or {@code https}; {@code ws} or {@code wss} where a proxy says so
 * @param host the host and, if the client named it, the port; empty when the client named no host
 * @param port the port of that host, or the usual one of the scheme; another one where a proxy says so
 */
public record OriginalRequest(@Nullable InetAddress client, List<String> way, String scheme, String host, int port) {

    /** For an address that is not known (RFC 7239, 6.2). */
    public static final String UNKNOWN = "unknown";

    /** The address of the client as text, or {@value #UNKNOWN}. */
    public String clientText() {
        return way.get(0);
    }

    /** The address of the gateway's connection as text; null if it is not known. */
    public @Nullable String peerText() {
        String peer = way.get(way.size() - 1);
        return peer.equals(UNKNOWN) ? null : peer;
    }
}
