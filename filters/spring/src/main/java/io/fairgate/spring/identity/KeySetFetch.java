package io.fairgate.spring.identity;

import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.KeyType;
import io.fairgate.policy.KeySetLocation;
import java.io.InputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.text.ParseException;
import java.time.Duration;
import java.util.List;
import org.springframework.http.HttpStatus;
import org.springframework.http.client.reactive.ReactorClientHttpConnector;
import org.springframework.web.reactive.function.client.WebClient;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.netty.http.client.HttpClient;

/** Fetches public keys: bounded in bytes, number and time, and only from where the policy says, without redirects. */
final class KeySetFetch {

    static final int MAX_BYTES = 256 * 1024;
    static final int MAX_KEYS = 100;

    private static final Duration TIMEOUT = Duration.ofSeconds(5);
    private static final int MIN_RSA_BITS = 2048;

    private static final WebClient CLIENT = WebClient.builder()
            .clientConnector(
                    new ReactorClientHttpConnector(HttpClient.newConnection().followRedirect(false)))
            .codecs(codecs -> codecs.defaultCodecs().maxInMemorySize(MAX_BYTES))
            .build();

    private KeySetFetch() {}

    /** Fetches the keys at each subscription, on a thread for blocking work. Errors when no set is usable in time. */
    static Mono<JWKSet> of(KeySetLocation location, Scheduler time) {
        Mono<byte[]> bytes = location.isRemote() ? remote(location.location()) : file(Path.of(location.location()));
        return bytes.map(KeySetFetch::usable)
                .subscribeOn(Schedulers.boundedElastic())
                .timeout(TIMEOUT, time);
    }

    private static Mono<byte[]> remote(String url) {
        return CLIENT.get()
                .uri(URI.create(url))
                .exchangeToMono(response -> response.statusCode().isSameCodeAs(HttpStatus.OK)
                        ? response.bodyToMono(byte[].class).defaultIfEmpty(new byte[0])
                        : response.createError());
    }

    private static Mono<byte[]> file(Path path) {
        return Mono.fromCallable(() -> {
            try (InputStream in = Files.newInputStream(path)) {
                return in.readNBytes(MAX_BYTES + 1);
            }
        });
    }

    /** Keeps only keys that verify signatures: with a shared secret from a public set, anyone could sign tokens. */
    private static JWKSet usable(byte[] bytes) {
        if (bytes.length > MAX_BYTES) {
            throw new IllegalStateException("more than %d bytes".formatted(MAX_BYTES));
        }
        try {
            JWKSet all = JWKSet.parse(new String(bytes, StandardCharsets.UTF_8));
            if (all.getKeys().size() > MAX_KEYS) {
                throw new IllegalStateException("more than %d keys".formatted(MAX_KEYS));
            }
            List<JWK> keys = all.getKeys().stream()
                    .filter(KeySetFetch::isUsable)
                    .map(JWK::toPublicJWK)
                    .toList();
            if (keys.isEmpty()) {
                throw new IllegalStateException("no key that verifies signatures");
            }
            return new JWKSet(keys);
        } catch (ParseException e) {
            throw new IllegalStateException("not a JSON Web Key Set", e);
        }
    }

    private static boolean isUsable(JWK key) {
        return KeyType.EC.equals(key.getKeyType())
                || (KeyType.RSA.equals(key.getKeyType()) && key.size() >= MIN_RSA_BITS);
    }
}
