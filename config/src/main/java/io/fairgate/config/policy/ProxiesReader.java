package io.fairgate.config.policy;

import io.fairgate.config.yaml.InvalidValue;
import io.fairgate.config.yaml.Section;
import io.fairgate.config.yaml.Value;
import io.fairgate.policy.Cidr;
import io.fairgate.policy.TrustedProxies;
import java.util.ArrayList;
import java.util.List;

/** Reads {@code tenants.trusted-proxies}, {@code tenants.proxy-headers} and {@code tenants.proxy-protocol}. */
final class ProxiesReader {

    private static final String NETWORKS = "trusted-proxies";
    private static final String HEADERS = "proxy-headers";
    private static final String PROTOCOL = "proxy-protocol";

    /** Stands for networks with mistakes, so that what needs them can be read. */
    private static final List<Cidr> PLACEHOLDER = List.of(Cidr.parse("127.0.0.1"));

    private ProxiesReader() {}

    static TrustedProxies read(Section tenants) {
        List<Cidr> networks = networks(tenants);
        List<Cidr> protocol = protocol(tenants);
        Value headers = tenants.get(HEADERS);
        if (headers == null) {
            return new TrustedProxies(networks, protocol, TrustedProxies.DEFAULT_HEADERS);
        } else if (networks.isEmpty()) {
            headers.mistake("without " + NETWORKS, "the networks of the proxies that set these headers as " + NETWORKS);
        }
        TrustedProxies proxies = new TrustedProxies(networks, protocol, List.of());
        for (Value item : tenants.items(HEADERS)) {
            proxies = withHeader(proxies, item);
        }
        return proxies;
    }

    private static TrustedProxies withHeader(TrustedProxies proxies, Value item) {
        String name = item.text("the name of a header, such as X-Forwarded-For");
        if (name == null) {
            return proxies;
        }
        List<String> headers = new ArrayList<>(proxies.headers());
        headers.add(name);
        try {
            return new TrustedProxies(proxies.networks(), proxies.protocol(), headers);
        } catch (IllegalArgumentException e) {
            InvalidValue invalid = InvalidValue.of(e);
            item.mistake(invalid.found(), invalid.expected());
            return proxies;
        }
    }

    private static List<Cidr> protocol(Section tenants) {
        Value given = tenants.get(PROTOCOL);
        return given == null
                ? List.of()
                : TrustedNetworks.read(given, tenants.items(PROTOCOL), "state any address as its own");
    }

    private static List<Cidr> networks(Section tenants) {
        Value given = tenants.get(NETWORKS);
        if (given == null) {
            return tenants.mentions(NETWORKS) ? PLACEHOLDER : List.of();
        }
        List<Cidr> networks = TrustedNetworks.read(
                given,
                tenants.items(NETWORKS),
                "state any address, scheme and host as its own, and name any tenant in a header without trusted-from");
        return networks.isEmpty() ? PLACEHOLDER : networks;
    }
}
