package io.fairgate.spring.identity;

import io.fairgate.policy.IdentitySource;
import io.fairgate.policy.KeySetLocation;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import reactor.core.scheduler.Scheduler;

/**
 * Creates the readers of tokens. Sources that name the same keys share them, and keys that were fetched for one policy
 * serve the next, if it names them as well.
 */
final class TokenReaders implements Evidence.Tokens {

    private final Map<KeySetLocation, IssuerKeys> keys = new ConcurrentHashMap<>();
    private final KeySetFetch fetch;
    private final Consumer<Boolean> fetched;
    private final Scheduler time;
    private final InstantSource clock;

    /**
     * Readers that share the keys of an issuer.
     *
     * @param fetched called after each fetch of keys with whether it succeeded
     * @param clock the wall clock, by which tokens expire
     */
    TokenReaders(Consumer<Boolean> fetched, Scheduler time, InstantSource clock) {
        this.fetch = new KeySetFetch(time);
        this.fetched = fetched;
        this.time = time;
        this.clock = clock;
    }

    @Override
    public Evidence.Reader reader(IdentitySource.Jwt source) {
        IssuerKeys issuer =
                keys.computeIfAbsent(source.keys(), location -> new IssuerKeys(location, fetch::keys, fetched, time));
        return new TokenEvidence(source, issuer, clock);
    }

    @Override
    public void keepOnly(List<IdentitySource> sources) {
        Set<KeySetLocation> named = sources.stream()
                .filter(IdentitySource.Jwt.class::isInstance)
                .map(source -> ((IdentitySource.Jwt) source).keys())
                .collect(Collectors.toSet());
        keys.keySet().retainAll(named);
    }
}
