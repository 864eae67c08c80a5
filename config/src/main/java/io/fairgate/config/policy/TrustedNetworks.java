package io.fairgate.config.policy;

import io.fairgate.config.yaml.InvalidValue;
import io.fairgate.config.yaml.Value;
import io.fairgate.policy.Cidr;
import io.fairgate.policy.TrustedProxies;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads networks that are trusted, and warns when they cover every address. */
final class TrustedNetworks {

    private TrustedNetworks() {}

    /**
     * Reads networks. Notes mistakes, and leaves out the networks that have one.
     *
     * @param consequence what any client can do when the networks cover every address
     */
    static List<Cidr> read(Value whole, List<Value> items, String consequence) {
        String warning = "these networks cover every address, so any client can " + consequence;
        List<Cidr> networks = new ArrayList<>();
        boolean isWarned = false;
        for (Value item : items) {
            Cidr network = network(item);
            if (network != null) {
                networks.add(network);
                if (Cidr.coverEverything(List.of(network))) {
                    item.warn(warning);
                    isWarned = true;
                }
            }
        }
        if (!isWarned && Cidr.coverEverything(networks)) {
            whole.warn(warning);
        }
        return networks;
    }

    /**
     * Warns of networks that hold addresses of trusted proxies: usually they were written to let the proxies send the header.
     *
     * @param otherwise what the operator can write instead
     */
    static void warnOfProxies(Value whole, List<Cidr> networks, TrustedProxies proxies, String otherwise) {
        for (Cidr network : proxies.nameClients() ? networks : List.<Cidr>of()) {
            if (proxies.networks().stream().anyMatch(network::overlaps)) {
                whole.warn(
                        "%s holds addresses of trusted-proxies, but of a request that a proxy passes on, the address of its client counts; %s"
                                .formatted(network, otherwise));
                return;
            }
        }
    }

    private static @Nullable Cidr network(Value value) {
        String text = value.text("a network such as 10.0.0.0/8 or ::1/128");
        try {
            return text == null ? null : Cidr.parse(text);
        } catch (IllegalArgumentException e) {
            InvalidValue invalid = InvalidValue.of(e);
            value.mistake((invalid.key().equals("prefix") ? "a prefix of " : "") + invalid.expected());
            return null;
        }
    }
}
