package io.fairgate.spring.identity;

import io.fairgate.policy.IdentitySource;
import io.fairgate.policy.KeySetLocation;
import java.lang.ref.WeakReference;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import reactor.core.scheduler.Scheduler;

/**
 * Creates the authenticators of tokens. Sources that name the same keys share them, and keys that were fetched for one
 * policy serve the next, if it names them as well. Keys that no policy in use names are forgotten.
 */
final class TokenAuthenticators implements Authenticator.Tokens {

    private final Map<KeySetLocation, WeakReference<IssuerKeys>> keys = new ConcurrentHashMap<>();
    private final Consumer<Boolean> fetched;
    private final Scheduler time;

    /** @param fetched called after each fetch of keys with whether it succeeded */
    TokenAuthenticators(Consumer<Boolean> fetched, Scheduler time) {
        this.fetched = fetched;
        this.time = time;
    }

    @Override
    public Authenticator authenticator(IdentitySource.Jwt source) {
        keys.values().removeIf(kept -> kept.get() == null);
        KeySetLocation location = source.keys();
        WeakReference<IssuerKeys> kept = keys.get(location);
        IssuerKeys issuer = kept == null ? null : kept.get();
        if (issuer == null) {
            issuer = new IssuerKeys(location, KeySetFetch.of(location, time), fetched, time);
            keys.put(location, new WeakReference<>(issuer));
        }
        return new TokenAuthenticator(source, issuer);
    }
}
