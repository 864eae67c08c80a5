package io.fairgate.policy;

import java.net.InetAddress;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * The proxies and load balancers in front of the gateway. What they say about a request is believed: who sent it, by which scheme,
 * and to which host.
 *
 * @param networks the addresses of the proxies; empty for none
 * @param protocol the networks from which each connection begins with a header of the PROXY protocol, which says where the
 *     connection really comes from; empty for none
 * @param headers the names of the headers that each of these proxies sets, or removes, on every request: {@code Forwarded}
 *     (RFC 7239) or any {@code X-Forwarded-…}. No other header is believed, because a proxy passes on what its client sent.
 */
public record TrustedProxies(List<Cidr> networks, List<Cidr> protocol, List<String> headers) {

    public static final String FORWARDED = "Forwarded";
    public static final String FOR = "X-Forwarded-For";
    public static final String PROTO = "X-Forwarded-Proto";
    public static final String HOST = "X-Forwarded-Host";
    public static final String PORT = "X-Forwarded-Port";
    public static final String REAL_IP = "X-Real-IP";

    /** What most proxies can be told to set with one line each. */
    public static final List<String> DEFAULT_HEADERS = List.of(FOR, PROTO);

    public static final TrustedProxies NONE = new TrustedProxies(List.of(), List.of(), DEFAULT_HEADERS);

    /** The headers that the gateway sets itself, from what it believes. */
    public static final List<String> SET_BY_GATEWAY = List.of(FORWARDED, FOR, PROTO, HOST, PORT, REAL_IP);

    /** What a {@code Forwarded} header says as well: of two headers that differ, one would be wrong. */
    private static final Set<String> IN_FORWARDED = Set.of(inLowerCase(FOR), inLowerCase(PROTO), inLowerCase(HOST));

    private static final String OTHERS = "x-forwarded-";

    private static String inLowerCase(String name) {
        return name.toLowerCase(Locale.ROOT);
    }

    /** @throws IllegalArgumentException when a header is none that proxies write, or says what another one says */
    public TrustedProxies {
        networks = List.copyOf(networks);
        protocol = List.copyOf(protocol);
        headers = List.copyOf(headers);
        boolean hasForwarded = headers.stream().anyMatch(FORWARDED::equalsIgnoreCase);
        Set<String> earlier = new HashSet<>();
        for (String name : headers) {
            String lower = inLowerCase(name);
            if (!lower.equals("forwarded") && !(lower.startsWith(OTHERS) && CredentialHeader.isName(name))) {
                throw mistake(name, "Forwarded, or headers that begin with X-Forwarded-");
            } else if (hasForwarded && IN_FORWARDED.contains(lower)) {
                throw mistake(name + " and Forwarded", "one of them, because both say the same");
            } else if (!earlier.add(lower)) {
                throw mistake(name, "each header once");
            }
        }
    }

    private static IllegalArgumentException mistake(String found, String expected) {
        return new IllegalArgumentException("proxy-headers: %s (expected: %s)".formatted(found, expected));
    }

    /** Whether this is the address of such a proxy. */
    public boolean contains(InetAddress address) {
        return contains(networks, address);
    }

    /** Whether connections from this address begin with a header of the PROXY protocol. */
    public boolean useProtocol(InetAddress address) {
        return contains(protocol, address);
    }

    private static boolean contains(List<Cidr> networks, InetAddress address) {
        for (int i = 0; i < networks.size(); i++) {
            if (networks.get(i).contains(address)) {
                return true;
            }
        }
        return false;
    }

    /** Whether the proxies set or remove this header on every request. */
    public boolean areSaidToSet(String name) {
        for (int i = 0; i < headers.size(); i++) {
            if (headers.get(i).equalsIgnoreCase(name)) {
                return true;
            }
        }
        return false;
    }

    /** Whether the proxies say where a request comes from. */
    public boolean nameClients() {
        return areSaidToSet(FOR) || areSaidToSet(FORWARDED);
    }

    /** Whether the gateway sets this header itself. An underscore counts as a hyphen, as behind CGI. */
    public static boolean isSetByGateway(String name) {
        return SET_BY_GATEWAY.stream().anyMatch(name.replace('_', '-')::equalsIgnoreCase);
    }
}
