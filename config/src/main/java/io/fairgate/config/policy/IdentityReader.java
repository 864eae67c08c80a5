package io.fairgate.config.policy;

import io.fairgate.config.yaml.Given;
import io.fairgate.config.yaml.KnownKeys;
import io.fairgate.config.yaml.Section;
import io.fairgate.config.yaml.Value;
import io.fairgate.policy.Cidr;
import io.fairgate.policy.IdentitySource;
import io.fairgate.policy.IdentitySource.CertificateName;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads {@code tenants.identify}. */
final class IdentityReader {
    private static final List<String> WAYS = List.of("header", "api-key", "jwt", "client-certificate");

    private IdentityReader() {}

    /**
     * The ways to identify a tenant that the file gives.
     *
     * @param complete whether none of them has a mistake
     */
    record Ways(List<IdentitySource> sources, boolean complete) {
        static final Ways NONE = new Ways(List.of(), false);
    }

    static Ways read(Value value) {
        String expected = "a list of ways to identify a tenant, such as - header: X-Tenant-Id";
        List<Value> items = value.items(expected);
        if (items != null && items.isEmpty()) {
            value.mistake(expected);
        }
        Map<IdentitySource, Value> sources = new LinkedHashMap<>();
        for (Value item : items == null ? List.<Value>of() : items) {
            Section section = Section.open(item, PolicyKeys.IDENTITY);
            IdentitySource source = section == null ? null : source(section);
            if (source != null && isNew(source, item, sources)) {
                sources.put(source, item);
            }
        }
        return new Ways(List.copyOf(sources.keySet()), items != null && sources.size() == items.size());
    }

    private static boolean isNew(IdentitySource source, Value item, Map<IdentitySource, Value> others) {
        for (Map.Entry<IdentitySource, Value> other : others.entrySet()) {
            if (source.collidesWith(other.getKey())) {
                item.mistake(
                        source.readHeader() == null ? "the same way again" : "%s again".formatted(source.readHeader()),
                        "one way for each header and scheme; %s has this one"
                                .formatted(other.getValue().place()));
                return false;
            }
        }
        return true;
    }

    private static @Nullable IdentitySource source(Section section) {
        List<String> given =
                WAYS.stream().filter(way -> section.get(way) != null).toList();
        if (given.size() > 1) {
            section.mistake(given.get(1), "beside " + given.get(0), "one way for each item of the list");
            return null;
        }
        if (given.isEmpty()) {
            if (WAYS.stream().noneMatch(section::mentions)) {
                section.mistake("header", "missing", "one of " + String.join(", ", WAYS));
            }
            return null;
        }
        String way = given.get(0);
        if (way.equals("header")) {
            return header(section);
        }
        if (section.get("trusted-from") != null) {
            section.mistake(
                    "trusted-from", "beside " + way, "nothing: only peers that send a plain header are trusted");
        }
        Value value = section.get(way);
        return value == null ? null : verified(way, value);
    }

    private static @Nullable IdentitySource verified(String way, Value value) {
        KnownKeys keys = switch (way) {
            case "api-key" -> PolicyKeys.API_KEY;
            case "jwt" -> PolicyKeys.JWT;
            default -> PolicyKeys.CLIENT_CERTIFICATE;
        };
        if (!value.isMapping()) {
            // The value is not shown: it may be the key itself.
            value.mistake("not a mapping", "a mapping with keys of " + String.join(", ", keys.keys()));
            return null;
        }
        Section section = Section.open(value, keys);
        if (section == null) {
            return null;
        }
        return switch (way) {
            case "api-key" -> apiKey(section);
            case "jwt" -> TokenReader.read(section);
            default -> certificate(section);
        };
    }

    private static @Nullable IdentitySource apiKey(Section section) {
        section.require("header", "the name of the header that carries the key, such as X-Api-Key");
        return new Given(section)
                .read("header", value -> value.text("the name of an HTTP header"))
                .read("scheme", value -> value.text("a word such as Bearer"))
                .read("forward", Value::truth)
                .accepted(keys -> new IdentitySource.ApiKey(
                        keys.text("header", "X-Api-Key"),
                        keys.has("scheme") ? keys.text("scheme", "") : null,
                        keys.truth("forward", false)));
    }

    private static @Nullable IdentitySource certificate(Section section) {
        section.require("name", "one of " + String.join(", ", CertificateName.labels()));
        return new Given(section)
                .read("name", value -> value.text("one of " + String.join(", ", CertificateName.labels())))
                .accepted(keys -> new IdentitySource.ClientCertificate(
                        CertificateName.of(keys.text("name", CertificateName.SAN_URI.label()))));
    }

    private static @Nullable IdentitySource header(Section section) {
        Value networks = section.require("trusted-from", "a list of the networks whose peers may send this header");
        // A placeholder stands for a missing list, which is noted already, so that the name of the header is still
        // checked.
        List<Cidr> trusted =
                networks == null ? TrustedNetworks.NOTED : new TrustedNetworks("whose request it is").list(networks);
        return new Given(section)
                .read("header", value -> value.text("the name of an HTTP header"))
                .read("trusted-from", value -> trusted)
                .accepted(keys -> new IdentitySource.Header(
                        keys.text("header", "X-Tenant-Id"),
                        keys.has("trusted-from") ? trusted : TrustedNetworks.NOTED));
    }
}
