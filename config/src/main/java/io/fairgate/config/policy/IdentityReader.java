package io.fairgate.config.policy;

import io.fairgate.config.yaml.Section;
import io.fairgate.config.yaml.Value;
import io.fairgate.policy.Cidr;
import io.fairgate.policy.CredentialHeader;
import io.fairgate.policy.IdentitySource;
import io.fairgate.policy.IdentitySource.CertificateName;
import io.fairgate.policy.IdentitySource.Kind;
import io.fairgate.policy.KeySetLocation;
import io.fairgate.policy.TokenRules;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Reads {@code tenants.identify}. */
final class IdentityReader {
    private static final String WAYS = Stream.of(Kind.values()).map(Kind::key).collect(Collectors.joining(", "));

    /** Stands for a list with mistakes, so that the rest can be read. */
    private static final List<Cidr> PLACEHOLDER_NETWORKS = List.of(Cidr.parse("127.0.0.0/8"));

    private IdentityReader() {}

    /** @param complete whether none of the ways of the file has a mistake */
    record Ways(List<IdentitySource> sources, boolean complete) {}

    static Ways read(Section tenants) {
        List<Value> items = tenants.items("identify");
        Map<IdentitySource, Value> sources = new LinkedHashMap<>();
        for (Value item : items) {
            IdentitySource source = source(Section.open(item, PolicyKeys.IDENTITY));
            if (source != null && isNew(source, item, sources)) {
                sources.put(source, item);
            }
        }
        return new Ways(List.copyOf(sources.keySet()), !items.isEmpty() && sources.size() == items.size());
    }

    private static boolean isNew(IdentitySource source, Value item, Map<IdentitySource, Value> others) {
        for (Map.Entry<IdentitySource, Value> other : others.entrySet()) {
            if (source.collidesWith(other.getKey())) {
                item.mistake(
                        source.header() == null
                                ? "the same way again"
                                : source.header().name() + " again",
                        "one item for each header and scheme; %s has this one"
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
            case JWT -> verified(kind, section, IdentityReader::token);
            case CLIENT_CERTIFICATE -> verified(kind, section, IdentityReader::certificate);
        };
    }

    private static @Nullable IdentitySource verified(
            Kind kind, Section item, Function<Section, @Nullable IdentitySource> reader) {
        if (item.get("trusted-from") != null) {
            item.mistake("trusted-from", "beside " + kind.key(), "no trusted-from, which only a plain header has");
        }
        Value value = item.get(kind.key());
        if (value != null && !value.isMapping()) {
            // The value is not shown: it may be the key itself.
            value.mistake("not a mapping", PolicyKeys.identity(kind).expected());
            return null;
        }
        return value == null ? null : reader.apply(Section.open(value, PolicyKeys.identity(kind)));
    }

    private static @Nullable IdentitySource apiKey(Section section) {
        return section.accepted(key -> new IdentitySource.ApiKey(new CredentialHeader(
                key.text("header", "X-Api-Key"), key.text("scheme"), key.truth("forward", false))));
    }

    private static @Nullable IdentitySource certificate(Section section) {
        return section.accepted(
                certificate -> new IdentitySource.ClientCertificate(certificate.word("name", CertificateName.SAN_URI)));
    }

    private static @Nullable IdentitySource token(Section section) {
        Set<String> algorithms = algorithms(section);
        return section.accepted(token -> new IdentitySource.Jwt(
                token.text("header", IdentitySource.Jwt.DEFAULT_HEADER),
                token.truth("forward", true),
                new TokenRules(
                        token.text("issuer", "absent"),
                        token.text("audience", "absent"),
                        token.text("claim", TokenRules.DEFAULT_CLAIM),
                        algorithms,
                        token.duration("skew", TokenRules.DEFAULT_SKEW)),
                new KeySetLocation(
                        token.text("jwks", "absent"), token.duration("refresh", KeySetLocation.DEFAULT_REFRESH))));
    }

    private static Set<String> algorithms(Section section) {
        Set<String> algorithms = new LinkedHashSet<>();
        for (Value item : section.items("algorithms")) {
            String name = item.scalar();
            if (name != null && TokenRules.ALGORITHMS.contains(name)) {
                algorithms.add(name);
            } else {
                item.mistake("one of " + String.join(", ", TokenRules.ALGORITHMS));
            }
        }
        return algorithms.isEmpty() ? Set.copyOf(TokenRules.DEFAULT_ALGORITHMS) : algorithms;
    }

    private static @Nullable IdentitySource header(Section section) {
        Value networks = section.get("trusted-from");
        if (networks == null && !section.mentions("trusted-from")) {
            section.mistake("trusted-from", "missing", PolicyKeys.TRUSTED_FROM);
        }
        List<Cidr> trusted = networks == null
                ? List.of()
                : TrustedNetworks.read(networks, section.items("trusted-from"), "choose its tenant");
        return section.accepted(way -> new IdentitySource.Header(
                way.text("header", "X-Tenant-Id"), trusted.isEmpty() ? PLACEHOLDER_NETWORKS : trusted));
    }
}
