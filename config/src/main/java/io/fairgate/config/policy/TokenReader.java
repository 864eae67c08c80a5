package io.fairgate.config.policy;

import io.fairgate.config.yaml.Given;
import io.fairgate.config.yaml.Section;
import io.fairgate.config.yaml.Value;
import io.fairgate.policy.IdentitySource;
import io.fairgate.policy.KeySetLocation;
import io.fairgate.policy.TokenRules;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reads {@code tenants.identify[].jwt}. */
final class TokenReader {
    private static final String ISSUER = "the value of iss in the tokens";
    private static final String AUDIENCE = "a value of aud in the tokens";
    private static final String SIGNATURES = "some of " + String.join(", ", TokenRules.ALGORITHMS);

    private TokenReader() {}

    static @Nullable IdentitySource read(Section section) {
        section.require("issuer", ISSUER);
        section.require("audience", AUDIENCE);
        section.require("jwks", "the location of the issuer's public keys: a URL or a file");
        Value given = section.get("algorithms");
        Set<String> algorithms = given == null ? Set.copyOf(TokenRules.DEFAULT_ALGORITHMS) : algorithms(given);
        return new Given(section)
                .read("header", value -> value.text("the name of an HTTP header"))
                .read("forward", Value::truth)
                .read("issuer", value -> value.text(ISSUER))
                .read("audience", value -> value.text(AUDIENCE))
                .read("claim", value -> value.text("the claim that holds the tenant's id"))
                .read("jwks", value -> value.text("a URL or a file"))
                .read("refresh", Value::duration)
                .read("skew", Value::duration)
                .accepted(keys -> new IdentitySource.Jwt(
                        keys.text("header", IdentitySource.Jwt.DEFAULT_HEADER),
                        keys.truth("forward", true),
                        rules(keys, algorithms),
                        new KeySetLocation(
                                keys.text("jwks", "absent"),
                                keys.duration("refresh", KeySetLocation.DEFAULT_REFRESH))));
    }

    private static TokenRules rules(Given keys, Set<String> algorithms) {
        return new TokenRules(
                keys.text("issuer", "absent"),
                keys.text("audience", "absent"),
                keys.text("claim", TokenRules.DEFAULT_CLAIM),
                algorithms,
                keys.duration("skew", TokenRules.DEFAULT_SKEW));
    }

    private static Set<String> algorithms(Value value) {
        List<Value> items = value.items("a list of " + SIGNATURES);
        if (items != null && items.isEmpty()) {
            value.mistake(SIGNATURES);
        }
        Set<String> algorithms = new LinkedHashSet<>();
        for (Value item : items == null ? List.<Value>of() : items) {
            String name = item.text(SIGNATURES);
            if (name != null && TokenRules.ALGORITHMS.contains(name)) {
                algorithms.add(name);
            } else if (name != null) {
                item.mistake(SIGNATURES);
            }
        }
        return algorithms.isEmpty() ? Set.copyOf(TokenRules.DEFAULT_ALGORITHMS) : algorithms;
    }
}
