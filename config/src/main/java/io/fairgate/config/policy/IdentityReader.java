package io.fairgate.config.policy;

import io.fairgate.config.yaml.KnownKeys;
import io.fairgate.config.yaml.Section;
import io.fairgate.config.yaml.Value;
import io.fairgate.policy.Cidr;
import io.fairgate.policy.IdentitySource;
import io.fairgate.policy.IdentitySource.CertificateName;
import io.fairgate.policy.KeySetLocation;
import io.fairgate.policy.TokenRules;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reads {@code tenants.identify}. */
final class IdentityReader {
    private static final List<String> WAYS = List.of("header", "api-key", "jwt", "client-certificate");

    /** Stands for a list with mistakes, so that the rest can be read. */
    private static final List<Cidr> ANY_NETWORKS = List.of(Cidr.parse("127.0.0.0/8"));

    private IdentityReader() {}

    /**
     * The ways to identify a tenant that the file gives.
     *
     * @param complete whether none of them has a mistake
     */
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
                        source.readHeader() == null ? "the same way again" : "%s again".formatted(source.readHeader()),
                        "one item for each header and scheme; %s has this one"
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
            section.mistake(given.get(1), "beside " + given.get(0), "one way per item of the list");
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
            section.mistake("trusted-from", "beside " + way, "no trusted-from, which only a plain header has");
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
            value.mistake("not a mapping", keys.expected());
            return null;
        }
        Section section = Section.open(value, keys);
        return switch (way) {
            case "api-key" ->
                section.accepted(key -> new IdentitySource.ApiKey(
                        key.text("header", "X-Api-Key"), key.text("scheme"), key.truth("forward", false)));
            case "jwt" -> token(section);
            default ->
                section.accepted(certificate -> new IdentitySource.ClientCertificate(
                        certificate.word("name", CertificateName.SAN_URI)));
        };
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
                way.text("header", "X-Tenant-Id"), trusted.isEmpty() ? ANY_NETWORKS : trusted));
    }
}
