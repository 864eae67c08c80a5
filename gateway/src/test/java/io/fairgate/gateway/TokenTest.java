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
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.PlainJWT;
import com.nimbusds.jwt.SignedJWT;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/**
 * Tokens, good ones and forged ones; members are a and b.
 */
@ExtendWith(OutputCaptureExtension.class)
class TokenTest {

    private static final RSAKey RSA = TokenIssuer.rsa("rsa-1");
    private static final ECKey EC = TokenIssuer.ec("ec-1");
    /** Not published at the beginning. */
    private static final RSAKey NEXT = TokenIssuer.rsa("rsa-2");
    /** A foreign key with the id of the issuer's key. */
    private static final RSAKey FORGED = TokenIssuer.rsa("rsa-1");
    /** Published, but too short to be used. */
    private static final RSAKey SHORT = TokenIssuer.rsa("short", 1024);

    @RegisterExtension
    static final GatewayAndUpstream both = new GatewayAndUpstream();

    @RegisterExtension
    static final ScriptedUpstream issuer = new ScriptedUpstream();

    private static volatile String published = TokenIssuer.published(RSA, EC, SHORT);

    @BeforeAll
    static void start() {
        issuer.on("/jwks", exchange -> exchange.send(ok(published)))
                .on("/forged", exchange -> exchange.send(ok(TokenIssuer.published(FORGED))))
                .on("/broken?token=secret", exchange -> exchange.send("HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n"));
        both.start(
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
                        jwks: %s/broken?token=secret
                        forward: false
                  plans: { plan: {} }
                  members: { a: { plan: plan }, b: { plan: plan } }
                pools:
                  pool: { permits: 4 }
                routes:
                  - id: plain
                    uri: http://UPSTREAM
                    predicates: [ "Path=/x" ]
                """.formatted(issuer.url(), issuer.url()),
                "--logging.level.io.fairgate.audit=info",
                "--logging.level.io.fairgate=debug");
    }

    private static String ok(String body) {
        return "HTTP/1.1 200 OK\r\nContent-Length: " + body.length() + "\r\n\r\n" + body;
    }

    static Stream<Arguments> tokens() throws Exception {
        String good = rs(claims("a"));
        String[] parts = good.split("\\.", -1);
        String payload = new String(Base64.getUrlDecoder().decode(parts[1]), StandardCharsets.UTF_8);
        String changed = Base64.getUrlEncoder()
                .withoutPadding()
                .encodeToString(payload.replace("\"a\"", "\"b\"").getBytes(StandardCharsets.UTF_8));
        JWTClaimsSet ofA = claims("a").build();
        return Stream.of(
                good("a good one", good),
                good("an elliptic curve", signed(ES256, EC, ofA)),
                good("PSS padding", signed(PS256, RSA, ofA)),
                good("without a key id", signed(new JWSHeader(RS256), RSA, ofA)),
                good("an access token", rs(header -> header.type(new JOSEObjectType("at+jwt")), RSA)),
                good("several audiences", rs(claims("a").audience(List.of("x", "fairgate")))),
                good("expired within the skew", rs(claims("a").expirationTime(inSeconds(-5)))),
                invalid("expired", rs(claims("a").expirationTime(inSeconds(-60)))),
                invalid("without an expiry", rs(claims("a").expirationTime(null))),
                invalid("not yet valid", rs(claims("a").notBeforeTime(inSeconds(60)))),
                invalid("another issuer", rs(claims("a").issuer("https://other/"))),
                invalid("without an issuer", rs(claims("a").issuer(null))),
                invalid("another audience", rs(claims("a").audience("other"))),
                invalid("without an audience", rs(claims("a").audience((String) null))),
                invalid("a key of the same name", signed(RS256, FORGED, ofA)),
                invalid("a key that is too short", signed(RS256, SHORT, ofA)),
                invalid("an algorithm that is not allowed", signed(RS512, RSA, ofA)),
                invalid("no algorithm", new PlainJWT(ofA).serialize()),
                invalid("no algorithm, and a signature", new PlainJWT(ofA).serialize() + parts[2]),
                invalid("the public key as a secret", confused()),
                invalid("a key of its own", rs(header -> header.jwk(FORGED.toPublicJWK()), FORGED)),
                invalid("keys of its own", rs(header -> header.jwkURL(URI.create(issuer.url() + "/forged")), FORGED)),
                invalid("a path for a key", rs(header -> header.keyID("../../../../dev/null"), FORGED)),
                invalid("a very long key id", rs(header -> header.keyID("k".repeat(300)), RSA)),
                invalid(
                        "an extension that must be understood",
                        rs(header -> header.criticalParams(Set.of("exp")), RSA)),
                invalid("another type", rs(header -> header.type(new JOSEObjectType("logout+jwt")), RSA)),
                invalid("a changed tenant", parts[0] + "." + changed + "." + parts[2]),
                invalid("cut off", good.substring(0, good.length() - 10)),
                invalid("two parts", parts[0] + "." + parts[1]),
                invalid("an API key", "fg_0123456789"),
                invalid("a good one and more", good + " x"),
                invalid("no tenant", rs(claims("a").claim("org", null))),
                invalid("a tenant that is a list", rs(claims(List.of("a")))),
                arguments("a tenant with a space", rs(claims("a b")), 400, "malformed"),
                arguments("a tenant with a line end", rs(claims("a\r\nX-Tenant-Id: b")), 400, "malformed"),
                arguments("nobody's", rs(claims("nobody")), 403, "unknown-tenant"));
    }

    private static Arguments good(String what, String token) {
        return arguments(what, token, 200, "");
    }

    private static Arguments invalid(String what, String token) {
        return arguments(what, token, 401, "invalid-token");
    }

    /** As the issuer signs. */
    private static String rs(JWTClaimsSet.Builder claims) {
        return signed(RS256, RSA, claims.build());
    }

    /** For tenant a, with another header than the issuer's. */
    private static String rs(UnaryOperator<JWSHeader.Builder> header, RSAKey key) {
        return signed(header.apply(header(RS256, key)).build(), key, claims("a").build());
    }

    /** A token that passes if a public key is taken as the secret of an HMAC. */
    private static String confused() throws Exception {
        SignedJWT token = new SignedJWT(header(HS256, RSA).build(), claims("a").build());
        token.sign(new MACSigner(RSA.toRSAPublicKey().getEncoded()));
        return token.serialize();
    }

    @ParameterizedTest(name = "{0}: {2} {3}")
    @MethodSource("tokens")
    void a_token_names_its_tenant_or_is_refused(String what, String token, int status, String reason) {
        Answer answer = both.ask("/x", "Authorization", "Bearer " + token);
        assertThat(answer.status()).as(what).isEqualTo(status);
        if (status != 200) {
            assertThat(answer.json("reason")).isEqualTo(reason);
            assertThat(answer.body()).doesNotContain(token);
        }
        if (status == 401) {
            assertThat(answer.lines("WWW-Authenticate")).contains("Bearer realm=\"fairgate\", error=\"invalid_token\"");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"bearer ", "BEARER  ", "Bearer\t", "Bearer \t "})
    void a_token_is_verified_in_every_spelling_of_its_field(String scheme) throws Exception {
        String good = both.raw("/x", "X-Tenant-Id: a", "Authorization: " + scheme + rs(claims("a")));
        assertThat(good).startsWith("HTTP/1.1 200 ");
        String forged = both.raw(
                "/x",
                "X-Tenant-Id: a",
                "Authorization: " + scheme + signed(RS256, FORGED, claims("a").build()));
        assertThat(forged).startsWith("HTTP/1.1 401 ").contains("\"reason\":\"invalid-token\"");
        assertThat(both.upstream().requests()).hasSize(1);
    }

    @Test
    void identities_beside_a_token_must_agree() {
        String token = "Bearer " + rs(claims("a"));
        assertThat(both.ask("/x", "Authorization", token, "X-Tenant-Id", "a").status())
                .isEqualTo(200);
        Answer other = both.ask("/x", "Authorization", token, "X-Tenant-Id", "b");
        assertThat(other.json("reason")).isEqualTo("contradiction");
        Answer forged = both.ask("/x", "Authorization", "Bearer x", "X-Tenant-Id", "b");
        assertThat(forged.json("reason")).isEqualTo("invalid-token");
    }

    @Test
    void the_upstream_gets_the_token_and_the_tenant() {
        String token = rs(claims("b"));
        both.ask("/x", "Authorization", "bearer " + token);
        assertThat(both.got()).contains("X-Tenant-Id: b\r\n").containsIgnoringCase("Authorization: bearer " + token);
    }

    @Test
    void a_token_of_a_megabyte_is_refused_unread() throws Exception {
        assertThat(both.raw("/x", "Authorization: Bearer " + "x".repeat(20_000)))
                .startsWith("HTTP/1.1 431 ");
    }

    @Test
    void without_keys_a_token_is_neither_valid_nor_invalid(CapturedOutput output) {
        Answer answer = both.ask("/x", "X-Token", rs(claims("a")));
        assertThat(answer.status()).isEqualTo(503);
        assertThat(answer.json("reason")).isEqualTo("identity-unavailable");
        assertThat(answer.field("Retry-After")).isEqualTo("1");
        assertThat(answer.lines("WWW-Authenticate")).isEmpty();
        assertThat(Answer.to(both.gateway().managementUrl("/actuator/prometheus"))
                        .body())
                .contains("fairgate_keyset_fetches_total{keys=\"http://127.0.0.1:", "/broken\",result=\"failure\"}");
        assertThat(output.getAll()).contains("/broken cannot be fetched").doesNotContain("token=secret");
    }

    /** The keys for this header are unavailable, so a fetch would be visible in the answer. */
    @Test
    void a_token_that_is_invalid_with_every_key_is_refused_without_a_fetch() {
        for (String token : List.of(
                signed(RS512, RSA, claims("a").build()), rs(header -> header.keyID("k".repeat(300)), RSA), "x.y.z")) {
            assertThat(both.ask("/x", "X-Token", token).status()).isEqualTo(401);
        }
    }

    @Test
    void invented_keys_are_fetched_once_and_a_new_key_of_the_issuer_is_found() {
        both.ask("/x", "Authorization", "Bearer " + rs(claims("a")));
        long before = fetches();
        assertThat(before).isPositive();
        List<CompletableFuture<Answer>> answers = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            JWSHeader header =
                    new JWSHeader.Builder(RS256).keyID("invented-" + i).build();
            answers.add(Answer.future(
                    both.gateway().url("/x"),
                    "Authorization",
                    "Bearer " + signed(header, FORGED, claims("a").build())));
        }
        answers.forEach(answer -> assertThat(answer.join().status()).isEqualTo(401));
        assertThat(fetches() - before).as("one every ten seconds").isBetween(0L, 2L);

        published = TokenIssuer.published(RSA, EC, NEXT);
        String token = "Bearer " + signed(RS256, NEXT, claims("a").build());
        RunningGateway.eventually(() ->
                assertThat(both.ask("/x", "Authorization", token).status()).isEqualTo(200));
    }

    @Test
    void no_token_is_in_a_log_or_on_a_page(CapturedOutput output) {
        String good = rs(claims("a"));
        String forged = signed(RS256, FORGED, claims("a").build());
        both.ask("/x", "Authorization", "Bearer " + good);
        both.ask("/x", "Authorization", "Bearer " + forged);
        RunningGateway.eventually(() -> assertThat(output.getOut()).contains("\"reason\":\"invalid-token\""));
        String pages =
                Answer.to(both.gateway().managementUrl("/actuator/decisions")).body()
                        + Answer.to(both.gateway().managementUrl("/actuator/prometheus"))
                                .body();
        for (String token : List.of(good, forged)) {
            for (String part : token.split("\\.", -1)) {
                assertThat(output.getAll() + pages).doesNotContain(part);
            }
        }
    }

    private static long fetches() {
        return issuer.requests().stream()
                .filter(line -> line.startsWith("GET /jwks "))
                .count();
    }

    static Stream<Arguments> faults() {
        return Stream.of(
                arguments("it has expired", rs(claims("a").expirationTime(inSeconds(-60)))),
                arguments("it has no expiry", rs(claims("a").expirationTime(null))),
                arguments("it is not valid yet", rs(claims("a").notBeforeTime(inSeconds(600)))),
                arguments("it is of another issuer", rs(claims("a").issuer("https://other/"))),
                arguments("it is for another audience", rs(claims("a").audience("other"))),
                arguments(
                        "its signature is not valid",
                        signed(RS256, FORGED, claims("a").build())),
                arguments(
                        "its algorithm is not allowed",
                        signed(RS512, RSA, claims("a").build())),
                arguments("it is not a signed token", "0123456789"),
                arguments("the id of its key is too long", rs(header -> header.keyID("k".repeat(300)), RSA)),
                arguments("it has no claim org.tenant", rs(claims("a").claim("org", null))));
    }

    /** The client learns nothing of it, and no record has anything of the token. */
    @ParameterizedTest
    @MethodSource("faults")
    void an_operator_learns_why_a_token_is_not_valid(String why, String token, CapturedOutput output) {
        Answer refused = both.ask("/x", "Authorization", "Bearer " + token);
        assertThat(refused.json("reason")).isEqualTo("invalid-token");
        assertThat(refused.body()).doesNotContain(why);
        String decision = refused.json("decision");
        assertThat(Answer.to(both.gateway().managementUrl("/actuator/decisions/" + decision))
                        .json("why"))
                .isEqualTo(why);
        RunningGateway.eventually(() -> assertThat(output.getOut().lines())
                .filteredOn(line -> line.contains(decision) && line.contains("identity-refused"))
                .singleElement()
                .asString()
                .contains("\"why\":\"" + why + "\"")
                .doesNotContain(token));
    }
}
