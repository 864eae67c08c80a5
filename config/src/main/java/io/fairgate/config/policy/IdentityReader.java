package io.fairgate.config.policy;

import static io.fairgate.config.yaml.Key.key;
import static io.fairgate.config.yaml.KeyType.DURATION;
import static io.fairgate.config.yaml.KeyType.NOT_EMPTY_LIST;
import static io.fairgate.config.yaml.KeyType.PART;
import static io.fairgate.config.yaml.KeyType.TEXT;
import static io.fairgate.config.yaml.KeyType.TRUTH;

import io.fairgate.config.yaml.KeyType.Word;
import io.fairgate.config.yaml.KnownKeys;
import io.fairgate.config.yaml.Section;
import io.fairgate.config.yaml.Value;
import io.fairgate.policy.Cidr;
import io.fairgate.policy.CredentialHeader;
import io.fairgate.policy.IdentitySource;
import io.fairgate.policy.IdentitySource.CertificateName;
import io.fairgate.policy.IdentitySource.Kind;
import io.fairgate.policy.KeySetLocation;
import io.fairgate.policy.TokenRules;
import io.fairgate.policy.TrustedProxies;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Declares the keys of {@code tenants.identify}, and reads it. */
final class IdentityReader {
    private static final String WAYS = Stream.of(Kind.values()).map(Kind::key).collect(Collectors.joining(", "));

    /** Stands for a list with mistakes, so that the rest can be read. */
    private static final List<Cidr> PLACEHOLDER_NETWORKS = List.of(Cidr.parse("127.0.0.0/8"));

    private static final String TRUSTED_FROM =
            "a list of the networks whose clients may send this header, such as 127.0.0.0/8";

    private static final String BEAN = "the name of a bean of type TenantResolver";

    static final KnownKeys IDENTITY = new KnownKeys(
                    "tenants.identify[]",
                    key("header", TEXT, PolicyKeys.HEADER),
                    key("trusted-from", NOT_EMPTY_LIST, TRUSTED_FROM))
            .and(Stream.of(Kind.values())
                    .filter(kind -> kind != Kind.HEADER)
                    .map(kind -> kind == Kind.BEAN ? key(kind.key(), TEXT, BEAN) : key(kind.key(), PART))
                    .toList());
    private static final KnownKeys API_KEY = new KnownKeys(
            "tenants.identify[].api-key",
            key("header", TEXT, "the name of the header that carries the key, such as X-Api-Key")
                    .required(),
            key("scheme", TEXT, "a word such as Bearer"),
            key("forward", TRUTH));
    private static final KnownKeys JWT = new KnownKeys(
            "tenants.identify[].jwt",
            key("header", TEXT, PolicyKeys.HEADER),
            key("issuer", TEXT, "the value of iss in the tokens").required(),
            key("audience", TEXT, "a value of aud in the tokens").required(),
            key("claim", TEXT, "the claim that holds the tenant's id"),
            key(
                    "algorithms",
                    NOT_EMPTY_LIST,
                    "a list with at least one of " + String.join(", ", TokenRules.ALGORITHMS)),
            key("jwks", TEXT, "the location of the issuer's public keys: a URL or a file")
                    .required(),
            key("refresh", DURATION),
            key("skew", DURATION),
            key("forward", TRUTH));
    private static final KnownKeys CLIENT_CERTIFICATE = new KnownKeys(
            "tenants.identify[].client-certificate",
            key("name", new Word(CertificateName.class))
                    .required("one of " + String.join(", ", CertificateName.labels())));

    private IdentityReader() {}

    /** The keys of all ways. */
    static Stream<KnownKeys> keys() {
        return Stream.of(Kind.values()).map(IdentityReader::keysOf).distinct();
    }

    /** The keys of a way to identify tenants. Those of a plain header and of a bean are in the item of the list itself. */
    private static KnownKeys keysOf(Kind kind) {
        return switch (kind) {
            case HEADER, BEAN -> IDENTITY;
            case API_KEY -> API_KEY;
            case JWT -> JWT;
            case CLIENT_CERTIFICATE -> CLIENT_CERTIFICATE;
        };
    }

    /** @param complete whether none of the ways of the file has a mistake */
    record Ways(List<IdentitySource> sources, boolean complete) {}

    /** @param proxies the proxies in front of the gateway */
    static Ways read(Section tenants, TrustedProxies proxies) {
        List<Value> items = tenants.items("identify");
        Map<IdentitySource, Value> sources = new LinkedHashMap<>();
        for (Value item : items) {
            IdentitySource source = source(Section.open(item, IDENTITY), proxies);
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

    private static @Nullable IdentitySource source(Section section, TrustedProxies proxies) {
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
            case HEADER -> header(section, proxies);
            case API_KEY -> verified(kind, section, IdentityReader::apiKey);
            case JWT -> verified(kind, section, IdentityReader::token);
            case CLIENT_CERTIFICATE -> verified(kind, section, IdentityReader::certificate);
            case BEAN -> bean(section);
        };
    }

    private static @Nullable IdentitySource verified(
            Kind kind, Section item, Function<Section, @Nullable IdentitySource> reader) {
        refuseNetworks(kind, item);
        Value value = item.get(kind.key());
        if (value != null && !value.isMapping()) {
            // The value is not shown: it may be the key itself.
            value.mistake("not a mapping", keysOf(kind).expected());
            return null;
        }
        return value == null ? null : reader.apply(Section.open(value, keysOf(kind)));
    }

    private static void refuseNetworks(Kind kind, Section item) {
        if (item.get("trusted-from") != null) {
            item.mistake("trusted-from", "beside " + kind.key(), "no trusted-from, which only a plain header has");
        }
    }

    /** Whether there is such a bean is known only where the policy is put in force. */
    private static @Nullable IdentitySource bean(Section item) {
        refuseNetworks(Kind.BEAN, item);
        Value value = Objects.requireNonNull(item.get(Kind.BEAN.key()));
        String name = item.text(Kind.BEAN.key());
        return name == null ? null : new IdentitySource.Bean(name, value.placeInPolicy());
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

    /** Without {@code trusted-from}, the header is for the trusted proxies. */
    private static @Nullable IdentitySource header(Section section, TrustedProxies proxies) {
        Value networks = section.get("trusted-from");
        List<Cidr> trusted = List.of();
        if (networks != null) {
            trusted = TrustedNetworks.read(
                    networks, section.items("trusted-from"), "send this header and choose its tenant");
            TrustedNetworks.warnOfProxies(
                    networks, trusted, proxies, "without trusted-from, the header is for the proxies alone");
            trusted = trusted.isEmpty() ? PLACEHOLDER_NETWORKS : trusted;
        } else if (section.mentions("trusted-from") || proxies.networks().isEmpty()) {
            if (!section.mentions("trusted-from")) {
                section.mistake("trusted-from", "missing", TRUSTED_FROM + ", or trusted-proxies, which set it");
            }
            trusted = PLACEHOLDER_NETWORKS;
        }
        List<Cidr> from = trusted;
        return section.accepted(way -> new IdentitySource.Header(way.text("header", "X-Tenant-Id"), from));
    }
}
