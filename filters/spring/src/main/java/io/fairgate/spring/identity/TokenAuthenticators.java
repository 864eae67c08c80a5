package io.fairgate.spring.identity;

import io.fairgate.policy.IdentitySource;
import io.fairgate.policy.KeySetLocation;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import reactor.core.scheduler.Scheduler;

/**
 * Creates the authenticators of tokens. Sources that name the same keys share them, and keys that were fetched for one
 * policy serve the next, if it names them as well.
 */
final class TokenAuthenticators implements Authenticator.Tokens {

    private final Map<KeySetLocation, IssuerKeys> keys = new ConcurrentHashMap<>();
    private final BiConsumer<String, Boolean> fetched;
    private final Scheduler time;

    /** @param fetched called after each fetch of keys with their URL or file, and whether it succeeded */
    TokenAuthenticators(BiConsumer<String, Boolean> fetched, Scheduler time) {
        this.fetched = fetched;
        this.time = time;
    }

    @Override
    public Authenticator authenticator(IdentitySource.Jwt source) {
        return new TokenAuthenticator(source, keys(source.keys()));
    }

    IssuerKeys keys(KeySetLocation location) {
        return keys.computeIfAbsent(
                location,
                where -> new IssuerKeys(
                        where, KeySetFetch.of(where, time), ok -> fetched.accept(where.name(), ok), time));
    }

    /** An operator who removes an issuer and adds it again gets its present keys. */
    @Override
    public void keepOnly(List<IdentitySource> sources) {
        keys.keySet()
                .removeIf(location -> sources.stream()
                        .noneMatch(source -> source instanceof IdentitySource.Jwt token
                                && token.keys().equals(location)));
    }
}
