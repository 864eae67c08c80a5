package io.fairgate.config.policy;

import io.fairgate.config.yaml.Given;
import io.fairgate.config.yaml.KnownKeys;
import io.fairgate.config.yaml.Section;
import io.fairgate.config.yaml.Value;
import io.fairgate.policy.Cidr;
import io.fairgate.policy.CredentialHeader;
import io.fairgate.policy.IdentitySource;
import io.fairgate.policy.IdentitySource.CertificateName;
import io.fairgate.policy.IdentitySource.Kind;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Reads {@code tenants.identify}. */
final class IdentityReader {
    private static final String WAYS = Stream.of(Kind.values()).map(Kind::key).collect(Collectors.joining(", "));

    private static final KnownKeys ITEM = new KnownKeys(
            "tenants.identify[]",
            Stream.of(Kind.values())
                    .flatMap(kind -> kind == Kind.HEADER ? Stream.of("header", "trusted-from") : Stream.of(kind.key()))
                    .toList());

    private IdentityReader() {}

    /** The keys of each way. Those of a plain header are in the item of the list itself. */
    static KnownKeys keys(Kind kind) {
        return switch (kind) {
            case HEADER -> ITEM;
            case API_KEY -> keys(kind, "header", "scheme", "forward");
            case JWT ->
                keys(kind, "header", "issuer", "audience", "claim", "algorithms", "jwks", "refresh", "skew", "forward");
            case CLIENT_CERTIFICATE -> keys(kind, "name");
        };
    }

    private static KnownKeys keys(Kind kind, String... keys) {
        return new KnownKeys(ITEM.place() + "." + kind.key(), List.of(keys));
    }

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
            Section section = Section.open(item, ITEM);
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
                        source.header() == null
                                ? "the same way again"
                                : source.header().name() + " again",
                        "one way for each header and scheme; %s has this one"
                                .formatted(other.getValue().place()));
                return false;
            }
        }
        return true;
    }

    private static @Nullable IdentitySource source(Section section) {
        List<Kind> given = Stream.of(Kind.values())
                .filter(kind -> section.get(kind.key()) != null)
                .toList();
        if (given.size() > 1) {
            section.mistake(given.get(1).key(), "beside " + given.get(0).key(), "one way for each item of the list");
            return null;
        }
        if (given.isEmpty()) {
            if (Stream.of(Kind.values()).map(Kind::key).noneMatch(section::mentions)) {
                section.mistake("header", "missing", "one of " + WAYS);
            }
            return null;
        }
        Kind kind = given.get(0);
        return switch (kind) {
            case HEADER -> header(section);
            case API_KEY -> verified(kind, section, IdentityReader::apiKey);
            case JWT -> verified(kind, section, TokenReader::read);
            case CLIENT_CERTIFICATE -> verified(kind, section, IdentityReader::certificate);
        };
    }

    private static @Nullable IdentitySource verified(
            Kind kind, Section item, Function<Section, @Nullable IdentitySource> reader) {
        if (item.get("trusted-from") != null) {
            item.mistake(
                    "trusted-from", "beside " + kind.key(), "nothing: only peers that send a plain header are trusted");
        }
        Value value = item.get(kind.key());
        if (value != null && !value.isMapping()) {
            // The value is not shown: it may be the key itself.
            value.mistake(
                    "not a mapping",
                    "a mapping with keys of " + String.join(", ", keys(kind).keys()));
            return null;
        }
        Section section = value == null ? null : Section.open(value, keys(kind));
        return section == null ? null : reader.apply(section);
    }

    private static @Nullable IdentitySource apiKey(Section section) {
        section.require("header", "the name of the header that carries the key, such as X-Api-Key");
        return new Given(section)
                .read("header", value -> value.text("the name of an HTTP header"))
                .read("scheme", value -> value.text("a word such as Bearer"))
                .read("forward", Value::truth)
                .accepted(keys -> new IdentitySource.ApiKey(new CredentialHeader(
                        keys.text("header", "X-Api-Key"),
                        keys.has("scheme") ? keys.text("scheme", "") : null,
                        keys.truth("forward", false))));
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
