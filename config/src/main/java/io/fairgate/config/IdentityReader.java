package io.fairgate.config;

import io.fairgate.policy.Cidr;
import io.fairgate.policy.IdentitySource;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads {@code tenants.identify}. */
final class IdentityReader {
    private static final Cidr PLACEHOLDER = Cidr.parse("127.0.0.0/8");

    private IdentityReader() {}

    static List<IdentitySource> read(Value value) {
        String expected = "a list of ways to identify a tenant, such as - header: X-Tenant-Id";
        List<Value> items = value.items(expected);
        if (items != null && items.isEmpty()) {
            value.mistake(expected);
        }
        List<IdentitySource> sources = new ArrayList<>();
        for (Value item : items == null ? List.<Value>of() : items) {
            Section section = Section.open(item, KnownKeys.IDENTITY);
            IdentitySource source = section == null ? null : header(section);
            if (source != null) {
                sources.add(source);
            }
        }
        return sources;
    }

    private static @Nullable IdentitySource header(Section section) {
        section.require("header", "the name of the header that names the tenant");
        Value networks = section.require("trusted-from", "a list of the networks whose peers may send this header");
        // With a placeholder for what is noted already, so that the header's name is checked in any case.
        List<Cidr> trusted = networks == null ? List.of(PLACEHOLDER) : networks(networks);
        return new Given(section)
                .read("header", value -> value.text("the name of an HTTP header"))
                .read("trusted-from", value -> trusted)
                .accepted(keys -> new IdentitySource.Header(
                        keys.text("header", "X-Tenant-Id"), keys.has("trusted-from") ? trusted : List.of(PLACEHOLDER)));
    }

    private static List<Cidr> networks(Value value) {
        List<Value> items = value.items("a list of networks such as 10.0.0.0/8");
        if (items == null) {
            return List.of(PLACEHOLDER);
        }
        List<Cidr> networks = new ArrayList<>();
        for (Value item : items) {
            networks.add(network(item));
        }
        return networks;
    }

    private static Cidr network(Value value) {
        String text = value.text("a network such as 10.0.0.0/8 or ::1/128");
        try {
            return text == null ? PLACEHOLDER : Cidr.parse(text);
        } catch (IllegalArgumentException e) {
            Refusal refusal = Refusal.of(e);
            boolean prefix = refusal.key().equals("prefix");
            value.mistake((prefix ? "a prefix of " : "") + refusal.expected());
            return PLACEHOLDER;
        }
    }
}
