package io.fairgate.spring.identity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jose.jwk.gen.OctetSequenceKeyGenerator;
import io.fairgate.policy.KeySetLocation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;
import reactor.test.scheduler.VirtualTimeScheduler;

/** Which answers are key sets, and which are refused. */
class KeySetFetchTest {

    private static final String SPACES = " ".repeat(KeySetFetch.MAX_BYTES);
    private static final JWK KEY = key();

    private static final DisposableServer SERVER = HttpServer.create()
            .host("127.0.0.1")
            .route(routes -> routes.get("/keys", (request, response) -> response.sendString(Mono.just(set(1))))
                    .get("/hundred", (request, response) -> response.sendString(Mono.just(set(100))))
                    .get("/more-keys", (request, response) -> response.sendString(Mono.just(set(101))))
                    .get("/large", (request, response) -> response.sendString(Mono.just(set(1) + SPACES)))
                    .get("/redirect", (request, response) -> response.sendRedirect("/keys"))
                    .get("/error", (request, response) -> response.status(500).sendString(Mono.just(set(1))))
                    .get(
                            "/large-error",
                            (request, response) -> response.status(500).sendString(Mono.just(SPACES + SPACES)))
                    .get("/empty", (request, response) -> response.send())
                    .get("/page", (request, response) -> response.sendString(Mono.just("<html>"))))
            .bindNow();

    @AfterAll
    static void stop() {
        SERVER.disposeNow();
    }

    private static JWK key() {
        try {
            return new ECKeyGenerator(Curve.P_256).keyID("key").generate();
        } catch (JOSEException e) {
            throw new IllegalStateException(e);
        }
    }

    /** With the private part, which an issuer should not publish. */
    private static String set(int keys) {
        return new JWKSet(Collections.nCopies(keys, KEY)).toString(false);
    }

    private static JWKSet fetch(String location) {
        return Objects.requireNonNull(
                KeySetFetch.of(new KeySetLocation(location, Duration.ofMinutes(5)), VirtualTimeScheduler.create())
                        .block());
    }

    private static JWKSet get(String path) {
        return fetch("http://127.0.0.1:" + SERVER.port() + path);
    }

    @Test
    void keys_are_kept_without_their_private_part() {
        assertThat(get("/keys").getKeys()).containsExactly(KEY.toPublicJWK());
        assertThat(get("/hundred").size()).isEqualTo(100);
    }

    @ParameterizedTest
    @CsvSource({
        "/more-keys, more than 100 keys",
        "/large, 262144",
        "/redirect, 302",
        "/error, 500",
        "/large-error, 500",
        "/empty, not a JSON Web Key Set",
        "/page, not a JSON Web Key Set",
        "/nothing, 404"
    })
    void any_other_answer_is_refused(String path, String why) {
        assertThatThrownBy(() -> get(path)).hasMessageContaining(why);
    }

    @Test
    void a_file_has_the_same_bounds(@TempDir Path directory) throws IOException, JOSEException {
        Path file = Files.writeString(directory.resolve("keys.json"), set(1));
        assertThat(fetch(file.toString()).getKeys()).containsExactly(KEY.toPublicJWK());
        Files.writeString(file, set(1) + SPACES);
        assertThatThrownBy(() -> fetch(file.toString())).hasMessageContaining("more than 262144 bytes");
        JWK secret = new OctetSequenceKeyGenerator(256).generate();
        Files.writeString(file, new JWKSet(List.of(secret)).toString(false));
        assertThatThrownBy(() -> fetch(file.toString())).hasMessageContaining("no key that verifies signatures");
    }
}
