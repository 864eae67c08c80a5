package io.fairgate.spring.proxy;

import io.fairgate.policy.TrustedProxies;
import io.fairgate.spring.exchange.OriginalRequest;
import io.fairgate.spring.proxy.ForwardedLine.Element;
import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The way that a request came, from the gateway's connection back to the first address that is no trusted proxy: that is the
 * client, and what it wrote before that is not believed. If all addresses are those of trusted proxies, the first one is the client.
 */
final class ProxyChain {

    private final TrustedProxies proxies;
    /** The gateway's connection first. */
    private final List<String> texts = new ArrayList<>(1);

    private final boolean isOnThisHost;
    private @Nullable InetAddress client;

    /** @param peer the address of the connection; null if it has none */
    ProxyChain(@Nullable InetAddress peer, TrustedProxies proxies) {
        this.proxies = proxies;
        this.isOnThisHost = peer != null && isOfOneHost(peer);
        note(peer);
    }

    @Nullable
    InetAddress client() {
        return client;
    }

    /** The addresses as text, that of the client first. */
    List<String> texts() {
        if (texts.size() == 1) {
            return List.of(texts.get(0));
        }
        List<String> clientFirst = new ArrayList<>(texts);
        Collections.reverse(clientFirst);
        return Collections.unmodifiableList(clientFirst);
    }

    /** Goes back through an {@code X-Forwarded-For} header, to which each proxy adds the address of its own peer. */
    void throughForwardedFor(List<String> lines) {
        for (int i = lines.size() - 1; i >= 0; i--) {
            String line = lines.get(i);
            int end = line.length();
            while (end >= 0) {
                int comma = line.lastIndexOf(',', end - 1);
                String text = line.substring(comma + 1, end).strip();
                if (!text.isEmpty() && !add(NodeAddress.parse(text))) {
                    return;
                }
                end = comma;
            }
        }
    }

    /**
     * Goes back through a {@code Forwarded} header.
     *
     * @return the element of the proxy to which the client sent the request; null if no proxy wrote an element, or if the line is malformed
     */
    @Nullable
    Element throughForwarded(List<String> lines) {
        Element last = null;
        for (int i = lines.size() - 1; i >= 0; i--) {
            List<Element> elements = ForwardedLine.parse(lines.get(i));
            if (elements == null) {
                add(null);
                return null;
            }
            for (int j = elements.size() - 1; j >= 0; j--) {
                last = elements.get(j);
                if (!add(last.node() == null ? null : NodeAddress.parse(last.node()))) {
                    return last;
                }
            }
        }
        return last;
    }

    /**
     * Adds the address that a proxy names. An address that means another host there than here is not known here, unless the proxy
     * is on this host.
     *
     * @return whether it is a trusted proxy, so that what it says of its own peer is believed
     */
    private boolean add(@Nullable InetAddress named) {
        InetAddress address = named != null && isOfOneHost(named) && !isOnThisHost ? null : named;
        note(address);
        return address != null && proxies.contains(address);
    }

    private static boolean isOfOneHost(InetAddress address) {
        return address.isLoopbackAddress() || address.isLinkLocalAddress() || address.isAnyLocalAddress();
    }

    private void note(@Nullable InetAddress address) {
        client = address;
        texts.add(address == null ? OriginalRequest.UNKNOWN : NetUtil.toAddressString(address));
    }
}
