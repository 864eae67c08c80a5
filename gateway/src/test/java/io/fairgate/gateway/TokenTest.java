package io.fairgate.gateway;

import static com.nimbusds.jose.JWSAlgorithm.ES256;
import static com.nimbusds.jose.JWSAlgorithm.HS256;
import static com.nimbusds.jose.JWSAlgorithm.PS256;
import static com.nimbusds.jose.JWSAlgorithm.RS256;
import static com.nimbusds.jose.JWSAlgorithm.RS512;
import static io.fairgate.gateway.TokenIssuer.claims;
import static io.fairgate.gateway.TokenIssuer.header;
import static io.fairgate.gateway.TokenIssuer.inSeconds;
import static io.fairgate.gateway.TokenIssuer.signed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.MACSigner;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jwt.PlainJWT;
import com.nimbusds.jwt.SignedJWT;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/**
 * Tokens, good ones and forged ones; members are a and b.
 *
 * <p>Over 250 lines because it is one table of forgeries with what makes them.
 */
@ExtendWith(OutputCaptureExtension.class)
class TokenTest {

    private static final RSAKey RSA = TokenIssuer.rsa("rsa-1");
    private static final ECKey EC = TokenIssuer.ec("ec-1");
    /** Not published at the beginning. */
    private static final RSAKey NEXT = TokenIssuer.rsa("rsa-2");
    /** Of somebody else, who calls it like the issuer's. */
    private static final RSAKey FORGED = TokenIssuer.rsa("rsa-1");
    /** Published, but too short to be used. */
    private static final RSAKey SHORT = TokenIssuer.rsa("short", 1024);

    @RegisterExtension
    static final RunningGateway gateway = new RunningGateway();

    @RegisterExtension
    static final ScriptedUpstream upstream = new ScriptedUpstream();

    private static final Queue<String> heads = new ConcurrentLinkedQueue<>();
    private static volatile String published = TokenIssuer.published(RSA, EC, SHORT);

    @BeforeAll
    static void start() {
        upstream.on(
                        "/jwks",
                        exchange -> exchange.send(
                                "HTTP/1.1 200 OK\r\nContent-Length: " + published.length() + "\r\n\r\n" + published))
                .on("/broken", exchange -> exchange.send("HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n"))
                .on("/x", exchange -> {
                    heads.add(exchange.head());
                    ScriptedUpstream.OK.answer(exchange);
                });
        gateway.start(
                """
                tenants:
                  identify:
                    - { header: X-Tenant-Id, trusted-from: [127.0.0.0/8] }
                    - jwt:
                        issuer: https://login.test/
                        audience: fairgate
                        claim: org.tenant
                        jwks: %s/jwks
                    - jwt:
                        header: X-Token
                        issuer: https://login.test/
                        audience: fairgate
                        jwks: %s/broken
                        forward: false
                  plans: { plan: {} }
                  members: { a: { plan: plan }, b: { plan: plan } }
                pools:
                  pool: { permits: 4 }
                routes:
                  - id: plain
                    uri: %s
                    predicates: [ "Path=/x" ]
                """.formatted(upstream.url(), upstream.url(), upstream.url()),
                "--logging.level.io.fairgate.audit=info",
                "--logging.level.io.fairgate=debug");
    }

    static Stream<Arguments> tokens() throws Exception {
        JWSHeader.Builder rs = header(RS256, RSA);
        String good = signed(RS256, RSA, claims("a").build());
        String[] parts = good.split("\\.", -1);
        String payload = new String(Base64.getUrlDecoder().decode(parts[1]), StandardCharsets.UTF_8);
        String changed = Base64.getUrlEncoder()
                .withoutPadding()
                .encodeToString(payload.replace("\"a\"", "\"b\"").getBytes(StandardCharsets.UTF_8));
        return Stream.of(
                arguments("a good one", good, 200, ""),
                arguments("an elliptic curve", signed(ES256, EC, claims("a").build()), 200, ""),
                arguments("PSS padding", signed(PS256, RSA, claims("a").build()), 200, ""),
                arguments(
                        "without a key id",
                        signed(new JWSHeader(RS256), RSA, claims("a").build()),
                        200,
                        ""),
                arguments(
                        "an access token",
                        signed(
                                rs.type(new JOSEObjectType("at+jwt")).build(),
                                RSA,
                                claims("a").build()),
                        200,
                        ""),
                arguments(
                        "several audiences",
                        signed(
                                RS256,
                                RSA,
                                claims("a").audience(List.of("x", "fairgate")).build()),
                        200,
                        ""),
                arguments(
                        "expired within the skew",
                        signed(
                                RS256,
                                RSA,
                                claims("a").expirationTime(inSeconds(-5)).build()),
                        200,
                        ""),
                arguments(
                        "expired",
                        signed(
                                RS256,
                                RSA,
                                claims("a").expirationTime(inSeconds(-60)).build()),
                        401,
                        "invalid-token"),
                arguments(
                        "without an expiry",
                        signed(RS256, RSA, claims("a").expirationTime(null).build()),
                        401,
                        "invalid-token"),
                arguments(
                        "not yet valid",
                        signed(
                                RS256,
                                RSA,
                                claims("a").notBeforeTime(inSeconds(60)).build()),
                        401,
                        "invalid-token"),
                arguments(
                        "another issuer",
                        signed(RS256, RSA, claims("a").issuer("https://other/").build()),
                        401,
                        "invalid-token"),
                arguments(
                        "another audience",
                        signed(RS256, RSA, claims("a").audience("other").build()),
                        401,
                        "invalid-token"),
                arguments(
                        "without an audience",
                        signed(RS256, RSA, claims("a").audience((String) null).build()),
                        401,
                        "invalid-token"),
                arguments(
                        "a key of the same name",
                        signed(RS256, FORGED, claims("a").build()),
                        401,
                        "invalid-token"),
                arguments(
                        "a key that is too short",
                        signed(RS256, SHORT, claims("a").build()),
                        401,
                        "invalid-token"),
                arguments(
                        "an algorithm that is not allowed",
                        signed(RS512, RSA, claims("a").build()),
                        401,
                        "invalid-token"),
                arguments("no algorithm", new PlainJWT(claims("a").build()).serialize(), 401, "invalid-token"),
                arguments(
                        "no algorithm, and a signature",
                        new PlainJWT(claims("a").build()).serialize() + parts[2],
                        401,
                        "invalid-token"),
                arguments("the public key as a secret", confused(), 401, "invalid-token"),
                arguments(
                        "a key of its own",
                        signed(
                                header(RS256, FORGED).jwk(FORGED.toPublicJWK()).build(),
                                FORGED,
                                claims("a").build()),
                        401,
                        "invalid-token"),
                arguments(
                        "keys of its own",
                        signed(
                                header(RS256, FORGED)
                                        .jwkURL(URI.create(upstream.url() + "/forged"))
                                        .build(),
                                FORGED,
                                claims("a").build()),
                        401,
                        "invalid-token"),
                arguments(
                        "a path for a key",
                        signed(
                                new JWSHeader.Builder(RS256)
                                        .keyID("../../../../dev/null")
                                        .build(),
                                FORGED,
                                claims("a").build()),
                        401,
                        "invalid-token"),
                arguments(
                        "a very long key id",
                        signed(
                                new JWSHeader.Builder(RS256)
                                        .keyID("k".repeat(300))
                                        .build(),
                                RSA,
                                claims("a").build()),
                        401,
                        "invalid-token"),
                arguments(
                        "an extension that must be understood",
                        signed(
                                header(RS256, RSA)
                                        .criticalParams(java.util.Set.of("exp"))
                                        .build(),
                                RSA,
                                claims("a").build()),
                        401,
                        "invalid-token"),
                arguments(
                        "another type",
                        signed(
                                header(RS256, RSA)
                                        .type(new JOSEObjectType("logout+jwt"))
                                        .build(),
                                RSA,
                                claims("a").build()),
                        401,
                        "invalid-token"),
                arguments("a changed tenant", parts[0] + "." + changed + "." + parts[2], 401, "invalid-token"),
                arguments("cut off", good.substring(0, good.length() - 10), 401, "invalid-token"),
                arguments("two parts", parts[0] + "." + parts[1], 401, "invalid-token"),
                arguments("an API key", "fg_0123456789", 401, "invalid-token"),
                arguments(
                        "no tenant",
                        signed(RS256, RSA, claims("a").claim("org", null).build()),
                        401,
                        "invalid-token"),
                arguments(
                        "a tenant that is a list",
                        signed(RS256, RSA, claims(List.of("a")).build()),
                        401,
                        "invalid-token"),
                arguments(
                        "a tenant with a space",
                        signed(RS256, RSA, claims("a b").build()),
                        400,
                        "malformed"),
                arguments(
                        "a tenant with a line end",
                        signed(RS256, RSA, claims("a\r\nX-Tenant-Id: b").build()),
                        400,
                        "malformed"),
                arguments("nobody's", signed(RS256, RSA, claims("nobody").build()), 403, "unknown-tenant"));
    }

    /** What passes where a public key is taken for the secret of an HMAC. */
    private static String confused() throws Exception {
        SignedJWT token = new SignedJWT(header(HS256, RSA).build(), claims("a").build());
        token.sign(new MACSigner(RSA.toRSAPublicKey().getEncoded()));
        return token.serialize();
    }

    @ParameterizedTest(name = "{0}: {2} {3}")
    @MethodSource("tokens")
    void a_token_is_its_tenants_or_is_refused(String what, String token, int status, String reason) {
        Answer answer = Answer.to(gateway.url("/x"), "Authorization", "Bearer " + token);
        assertThat(answer.status()).as(what).isEqualTo(status);
        if (status != 200) {
            assertThat(answer.json("reason")).isEqualTo(reason);
            assertThat(answer.body()).doesNotContain(token);
        }
        if (status == 401) {
            assertThat(answer.lines("WWW-Authenticate")).contains("Bearer realm=\"fairgate\", error=\"invalid_token\"");
        }
    }

    @Test
    void what_is_beside_a_token_must_say_the_same() {
        String token = "Bearer " + signed(RS256, RSA, claims("a").build());
        assertThat(Answer.to(gateway.url("/x"), "Authorization", token, "X-Tenant-Id", "a")
                        .status())
                .isEqualTo(200);
        Answer other = Answer.to(gateway.url("/x"), "Authorization", token, "X-Tenant-Id", "b");
        assertThat(other.json("reason")).isEqualTo("contradiction");
        Answer forged = Answer.to(gateway.url("/x"), "Authorization", "Bearer x", "X-Tenant-Id", "b");
        assertThat(forged.json("reason")).isEqualTo("invalid-token");
    }

    @Test
    void the_upstream_gets_the_token_and_the_tenant() {
        heads.clear();
        String token = signed(RS256, RSA, claims("b").build());
        Answer.to(gateway.url("/x"), "Authorization", "bearer " + token);
        assertThat(heads.element())
                .contains("X-Tenant-Id: b\r\n")
                .containsIgnoringCase("Authorization: bearer " + token);
    }

    @Test
    void a_token_of_a_megabyte_is_refused_before_anybody_looks_at_it() throws Exception {
        try (RawClient client = new RawClient(gateway.port())) {
            String answer = client.send("GET /x HTTP/1.1\r\nHost: test\r\nConnection: close\r\nAuthorization: Bearer "
                            + "x".repeat(20_000) + "\r\n\r\n")
                    .readAll();
            assertThat(answer).startsWith("HTTP/1.1 431 ");
        }
    }

    @Test
    void where_no_keys_can_be_had_a_token_is_neither_good_nor_bad() {
        Answer answer = Answer.to(
                gateway.url("/x"), "X-Token", signed(RS256, RSA, claims("a").build()));
        assertThat(answer.status()).isEqualTo(503);
        assertThat(answer.json("reason")).isEqualTo("identity-unavailable");
        assertThat(answer.field("Retry-After")).isEqualTo("1");
        assertThat(answer.lines("WWW-Authenticate")).isEmpty();
        assertThat(Answer.to(gateway.managementUrl("/actuator/prometheus")).body())
                .contains("fairgate_keyset_fetches_total{result=\"failure\"}");
    }

    @Test
    void invented_keys_are_fetched_once_and_a_new_key_of_the_issuer_is_found() {
        Answer.to(
                gateway.url("/x"),
                "Authorization",
                "Bearer " + signed(RS256, RSA, claims("a").build()));
        long before = fetches();
        assertThat(before).isPositive();
        List<CompletableFuture<Answer>> answers = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            JWSHeader header =
                    new JWSHeader.Builder(RS256).keyID("invented-" + i).build();
            answers.add(Answer.future(
                    gateway.url("/x"),
                    "Authorization",
                    "Bearer " + signed(header, FORGED, claims("a").build())));
        }
        answers.forEach(answer -> assertThat(answer.join().status()).isEqualTo(401));
        assertThat(fetches() - before).as("one every ten seconds").isBetween(0L, 2L);

        published = TokenIssuer.published(RSA, EC, NEXT);
        String token = "Bearer " + signed(RS256, NEXT, claims("a").build());
        RunningGateway.eventually(() -> assertThat(
                        Answer.to(gateway.url("/x"), "Authorization", token).status())
                .isEqualTo(200));
    }

    @Test
    void no_token_is_in_a_log_or_on_a_page(CapturedOutput output) {
        String good = signed(RS256, RSA, claims("a").build());
        String forged = signed(RS256, FORGED, claims("a").build());
        Answer.to(gateway.url("/x"), "Authorization", "Bearer " + good);
        Answer.to(gateway.url("/x"), "Authorization", "Bearer " + forged);
        RunningGateway.eventually(() -> assertThat(output.getOut()).contains("\"reason\":\"invalid-token\""));
        String pages = Answer.to(gateway.managementUrl("/actuator/decisions")).body()
                + Answer.to(gateway.managementUrl("/actuator/prometheus")).body();
        for (String token : List.of(good, forged)) {
            for (String part : token.split("\\.", -1)) {
                assertThat(output.getAll() + pages).doesNotContain(part);
            }
        }
    }

    private static long fetches() {
        return upstream.requests().stream()
                .filter(line -> line.startsWith("GET /jwks "))
                .count();
    }
}
