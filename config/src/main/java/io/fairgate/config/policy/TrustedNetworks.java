package io.fairgate.config.policy;

import io.fairgate.config.yaml.Refusal;
import io.fairgate.config.yaml.Value;
import io.fairgate.policy.Cidr;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads the networks whose peers are trusted to send a header, and warns when they cover every address, because then
 * any client may send it.
 *
 * @param told what the header states, for the warning
 */
record TrustedNetworks(String told) {
    /** Stands for a list with mistakes, so that the rest can be read. */
    static final List<Cidr> NOTED = List.of(Cidr.parse("127.0.0.0/8"));

    private static final String EXPECTED = "a network such as 10.0.0.0/8 or ::1/128";

    /** Reads a list with one network in each item. Notes mistakes, and leaves out the items that have one. */
    List<Cidr> list(Value value) {
        List<Value> items = value.items("a list of networks such as 10.0.0.0/8");
        if (items == null) {
            return NOTED;
        }
        List<Cidr> networks = new ArrayList<>();
        boolean isWarned = false;
        for (Value item : items) {
            String text = item.text(EXPECTED);
            Cidr network = text == null ? null : network(item, text);
            if (network != null) {
                networks.add(network);
                isWarned |= warn(item, List.of(network));
            }
        }
        if (!isWarned) {
            warn(value, networks);
        }
        return networks.isEmpty() && !items.isEmpty() ? NOTED : networks;
    }

    /** Checks a text that holds networks with commas in between. */
    void checkText(Value value) {
        String text = value.text("networks such as 10.0.0.0/8, with commas between");
        if (text != null) {
            List<Cidr> networks = new ArrayList<>();
            for (String part : text.split(",", -1)) {
                Cidr network = network(value, part.strip());
                if (network != null) {
                    networks.add(network);
                }
            }
            warn(value, networks);
        }
    }

    private static @Nullable Cidr network(Value value, String text) {
        try {
            return Cidr.parse(text);
        } catch (IllegalArgumentException e) {
            Refusal refusal = Refusal.of(e);
            boolean prefix = refusal.key().equals("prefix");
            value.mistake((prefix ? "a prefix of " : "") + refusal.expected());
            return null;
        }
    }

    private boolean warn(Value value, List<Cidr> networks) {
        boolean everywhere = Cidr.coverEverything(networks);
        if (everywhere) {
            value.warn("everybody may send this header, and so say " + told);
        }
        return everywhere;
    }
}
