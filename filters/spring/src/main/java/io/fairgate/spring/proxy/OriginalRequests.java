package io.fairgate.spring.proxy;

import static io.fairgate.policy.TrustedProxies.FOR;
import static io.fairgate.policy.TrustedProxies.FORWARDED;
import static io.fairgate.policy.TrustedProxies.HOST;
import static io.fairgate.policy.TrustedProxies.PORT;
import static io.fairgate.policy.TrustedProxies.PROTO;

import io.fairgate.policy.TrustedProxies;
import io.fairgate.spring.exchange.Exchanges;
import io.fairgate.spring.exchange.HostField;
import io.fairgate.spring.exchange.OriginalRequest;
import io.fairgate.spring.policy.PolicyHolder;
import io.fairgate.spring.proxy.ForwardedLine.Element;
import java.net.InetAddress;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.web.server.ServerWebExchange;

/**
 * Determines what a request was before the trusted proxies passed it on. The headers of a proxy count only if its address is
 * trusted, and of these only those that such proxies are said to write.
 */
public final class OriginalRequests {

    private static final Set<String> SCHEMES = Set.of("http", "https", "ws", "wss");

    private OriginalRequests() {}

    /** The request as the client sent it, by the policy in force. */
    public static OriginalRequest of(ServerWebExchange exchange, PolicyHolder policy) {
        return of(exchange, policy.current().identification().proxies());
    }

    /** The request as the client sent it. Determined once: later calls give the same answer, also if the policy has changed. */
    public static OriginalRequest of(ServerWebExchange exchange, TrustedProxies proxies) {
        OriginalRequest known = Exchanges.original(exchange);
        if (known != null) {
            return known;
        }
        OriginalRequest found = find(ReceivedRequest.of(exchange), proxies);
        Exchanges.setOriginal(exchange, found);
        return found;
    }

    static OriginalRequest find(ReceivedRequest received, TrustedProxies proxies) {
        InetAddress peer = received.peer();
        ProxyChain chain = new ProxyChain(peer, proxies);
        if (peer == null || !proxies.contains(peer)) {
            return original(chain, received.scheme(), received.host(), null);
        } else if (proxies.areSaidToSet(FORWARDED)) {
            Element first = chain.throughForwarded(received.lines(FORWARDED));
            return original(
                    chain,
                    scheme(first == null ? null : first.proto(), received),
                    host(first == null ? null : first.host(), received),
                    last(PORT, received, proxies));
        }
        if (proxies.areSaidToSet(FOR)) {
            chain.throughForwardedFor(received.lines(FOR));
        }
        return original(
                chain,
                scheme(last(PROTO, received, proxies), received),
                host(last(HOST, received, proxies), received),
                last(PORT, received, proxies));
    }

    private static OriginalRequest original(ProxyChain chain, String scheme, String host, @Nullable String port) {
        int usual = HostField.port(host, scheme.equals("https") || scheme.equals("wss") ? 443 : 80);
        return new OriginalRequest(
                chain.client(), chain.texts(), scheme, host, port == null ? usual : HostField.portAlone(port, usual));
    }

    private static String scheme(@Nullable String named, ReceivedRequest received) {
        String scheme = named == null ? "" : named.toLowerCase(Locale.ROOT);
        return SCHEMES.contains(scheme) ? scheme : received.scheme();
    }

    private static String host(@Nullable String named, ReceivedRequest received) {
        return named != null && HostField.isPlainHost(named) ? named : received.host();
    }

    /**
     * The last value of a header, which the nearest proxy wrote; null if the proxies do not write this header. An earlier value may
     * be one that the client sent, and a proxy added to.
     */
    private static @Nullable String last(String header, ReceivedRequest received, TrustedProxies proxies) {
        List<String> lines = proxies.areSaidToSet(header) ? received.lines(header) : List.of();
        if (lines.isEmpty()) {
            return null;
        }
        String line = lines.get(lines.size() - 1);
        return line.substring(line.lastIndexOf(',') + 1).strip();
    }
}
