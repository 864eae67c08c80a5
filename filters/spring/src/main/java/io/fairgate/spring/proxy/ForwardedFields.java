package io.fairgate.spring.proxy;

import io.fairgate.policy.TrustedProxies;
import io.fairgate.spring.exchange.ClientConnection;
import io.fairgate.spring.exchange.HeaderVariants;
import io.fairgate.spring.exchange.OriginalRequest;
import io.fairgate.spring.policy.PolicyHolder;
import io.netty.util.AsciiString;
import java.net.InetAddress;
import java.util.List;
import java.util.function.BiConsumer;
import org.springframework.http.server.reactive.ServerHttpRequestDecorator;
import org.springframework.web.server.ServerWebExchange;
import reactor.netty.http.server.HttpServerRequest;

/**
 * The headers by which the upstream learns who sent a request, by which scheme and to which host. What clients and proxies have written in
 * them is left out; the gateway sets them from the {@link OriginalRequest}, so they say what it believes itself. Other
 * {@code X-Forwarded-…} headers come from trusted proxies, or from the filters of the route.
 *
 * @param areSet false in an application where Spring Cloud Gateway sets these headers
 */
public record ForwardedFields(PolicyHolder policy, boolean areSet) {

    private static final AsciiString FOR = AsciiString.cached(TrustedProxies.FOR);
    private static final AsciiString PROTO = AsciiString.cached(TrustedProxies.PROTO);
    private static final AsciiString HOST = AsciiString.cached(TrustedProxies.HOST);
    private static final AsciiString PORT = AsciiString.cached(TrustedProxies.PORT);
    private static final AsciiString FORWARDED = AsciiString.cached(TrustedProxies.FORWARDED);
    private static final AsciiString REAL_IP = AsciiString.cached(TrustedProxies.REAL_IP);

    private static final String X_FORWARDED = "x-forwarded-";

    /** Whether the gateway sets this header, under any spelling that an upstream could take for it. */
    public static boolean isSet(CharSequence name) {
        List<String> set = TrustedProxies.SET_BY_GATEWAY;
        for (int i = 0; i < set.size(); i++) {
            if (HeaderVariants.isSame(name, set.get(i))) {
                return true;
            }
        }
        return false;
    }

    /** Whether this is another {@code X-Forwarded-…} header. */
    public static boolean isOther(CharSequence name) {
        return HeaderVariants.startsWith(name, X_FORWARDED) && !isSet(name);
    }

    /**
     * The request without other {@code X-Forwarded-…} headers, except those that trusted proxies set: of several lines the last one, which the
     * nearest proxy wrote. To be called before the filters of the route, which may set such headers.
     */
    public ServerWebExchange strip(ServerWebExchange exchange) {
        if (!areSet || !hasOthers(exchange)) {
            return exchange;
        }
        TrustedProxies proxies = policy.current().identification().proxies();
        InetAddress peer = ClientConnection.peer(exchange);
        boolean isFromProxy = peer != null && proxies.contains(peer);
        return exchange.mutate()
                .request(request -> request.headers(headers -> {
                    for (String name : List.copyOf(headers.headerNames())) {
                        if (isOther(name)) {
                            List<String> lines = headers.getOrDefault(name, List.of());
                            headers.remove(name);
                            if (isFromProxy && !lines.isEmpty() && proxies.areSaidToSet(name)) {
                                headers.set(name, lines.get(lines.size() - 1));
                            }
                        }
                    }
                }))
                .build();
    }

    private static boolean hasOthers(ServerWebExchange exchange) {
        return ServerHttpRequestDecorator.getNativeRequest(exchange.getRequest()) instanceof HttpServerRequest netty
                ? hasOthers(netty.requestHeaders())
                : exchange.getRequest().getHeaders().headerNames().stream().anyMatch(ForwardedFields::isOther);
    }

    private static boolean hasOthers(io.netty.handler.codec.http.HttpHeaders headers) {
        for (var all = headers.iteratorCharSequence(); all.hasNext(); ) {
            if (isOther(all.next().getKey())) {
                return true;
            }
        }
        return false;
    }

    /**
     * Sets the headers.
     *
     * @param set gets names with their values; replaces an earlier value of the same name
     */
    public void set(ServerWebExchange exchange, BiConsumer<AsciiString, String> set) {
        OriginalRequest original = OriginalRequests.of(exchange, policy);
        List<String> way = original.way();
        set.accept(FOR, way.size() == 1 ? way.get(0) : String.join(", ", way));
        set.accept(PROTO, original.scheme());
        if (!original.host().isEmpty()) {
            set.accept(HOST, original.host());
        }
        set.accept(PORT, port(original.port()));
        set.accept(FORWARDED, forwarded(original));
        if (exchange.getRequest().getHeaders().containsHeader(TrustedProxies.REAL_IP)) {
            set.accept(REAL_IP, original.clientText());
        }
    }

    private static String port(int port) {
        return switch (port) {
            case 80 -> "80";
            case 443 -> "443";
            default -> Integer.toString(port);
        };
    }

    /** RFC 7239, 4: an element for each address. The scheme and the host are known of the first one only. */
    private static String forwarded(OriginalRequest original) {
        List<String> way = original.way();
        StringBuilder all = new StringBuilder(64);
        node(all, way.get(0)).append(";proto=").append(original.scheme());
        if (!original.host().isEmpty()) {
            all.append(";host=\"").append(original.host()).append('"');
        }
        for (int i = 1; i < way.size(); i++) {
            node(all.append(", "), way.get(i));
        }
        return all.toString();
    }

    private static StringBuilder node(StringBuilder all, String address) {
        return address.indexOf(':') < 0
                ? all.append("for=").append(address)
                : all.append("for=\"[").append(address).append("]\"");
    }
}
