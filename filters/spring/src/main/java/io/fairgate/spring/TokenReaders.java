package io.fairgate.spring;

import io.fairgate.policy.IdentitySource;
import io.fairgate.policy.KeySetLocation;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import reactor.core.scheduler.Scheduler;

/**
 * Makes what verifies tokens. Ways that name the same keys share them, and keys that were fetched for one policy serve
 * the next, if it names them as well.
 */
final class TokenReaders implements Evidence.Tokens {

    private final Map<KeySetLocation, IssuerKeys> keys = new ConcurrentHashMap<>();
    private final KeySetFetch fetch;
    private final FairgateMeters meters;
    private final Scheduler time;
    private final InstantSource clock;

    /** @param clock the wall clock, by which tokens expire */
    TokenReaders(FairgateMeters meters, Scheduler time, InstantSource clock) {
        this.fetch = new KeySetFetch(time);
        this.meters = meters;
        this.time = time;
        this.clock = clock;
    }

    @Override
    public Evidence.Reader reader(IdentitySource.Jwt source) {
        IssuerKeys issuer = keys.computeIfAbsent(
                source.keys(), location -> new IssuerKeys(location, fetch::keys, meters::keySetFetched, time));
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
