package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.netty.http.HttpProtocol;
import reactor.netty.http.client.HttpClient;

/** Client certificates over real TLS; members are a, with two names of its own, and b, with one. */
class CertificateTest {

    @RegisterExtension
    static final GatewayAndUpstream both = new GatewayAndUpstream();

    @TempDir
    @SuppressWarnings("NullAway.Init") // by JUnit
    static Path folder;

    private static final X509Bundle AUTHORITY = selfSigned("CN=authority");
    /** With the same name, because otherwise the client would not present a certificate of it. */
    private static final X509Bundle STRANGER = selfSigned("CN=authority");

    private record Told(int status, String body) {}

    @BeforeAll
    static void start() throws Exception {
        X509Bundle server = new CertificateBuilder()
                .ecp256()
                .subject("CN=gateway")
                .addSanIpAddress("127.0.0.1")
                .addExtendedKeyUsageServerAuth()
                .buildIssuedBy(AUTHORITY);
        both.start(
                """
                tenants:
                  identify:
                    - { header: X-Tenant-Id, trusted-from: [127.0.0.0/8] }
                    - client-certificate: { name: san-uri }
                    - client-certificate: { name: subject-cn }
                  plans: { plan: {} }
                  members:
                    a: { plan: plan, certificates: [ "spiffe://test/a", "spiffe://test/a-too" ] }
                    b: { plan: plan, certificates: [ "spiffe://test/b" ] }
                routes:
                  - id: plain
                    uri: http://UPSTREAM
                    predicates: [ "Path=/x" ]
                """,
                "--server.ssl.certificate=" + file("server.pem", server.getCertificatePathPEM()),
                "--server.ssl.certificate-private-key=" + file("server.key", server.getPrivateKeyPEM()),
                "--server.ssl.trust-certificate=" + file("authority.pem", AUTHORITY.getCertificatePEM()),
                "--server.ssl.client-auth=want");
    }

    @ParameterizedTest(name = "{0}: {4} {5}")
    @CsvSource(delimiter = '|', ignoreLeadingAndTrailingWhitespace = true, quoteCharacter = '\'', textBlock = """
            a listed name                  | O=test         | spiffe://test/a     | ''             | 200 | a
            another of the same tenant     | O=test         | spiffe://test/a-too | ''             | 200 | a
            two of the same tenant         | O=test         | spiffe://test/a spiffe://test/a-too | '' | 200 | a
            one listed, one not            | O=test         | spiffe://test/a spiffe://test/z     | '' | 200 | a
            a common name                  | CN=b           | ''                  | ''             | 200 | b
            a common name among others     | 'CN=b,O=a,OU=a'| ''                  | ''             | 200 | b
            a common name beside another   | 'CN=b+C=DE'    | ''                  | ''             | 200 | b
            a member's id and another name | 'CN=a,CN=z'    | ''                  | ''             | 200 | a
            two names that agree           | CN=a           | spiffe://test/a     | ''             | 200 | a
            beside a header that agrees    | CN=a           | ''                  | 'X-Tenant-Id'  | 200 | a
            two tenants                    | O=test         | spiffe://test/a spiffe://test/b     | '' | 400 | malformed
            two names, none listed         | O=test         | spiffe://test/y spiffe://test/z     | '' | 400 | malformed
            two common names               | 'CN=a,CN=b'    | ''                  | ''             | 400 | malformed
            two common names in one        | 'CN=a+CN=b'    | ''                  | ''             | 400 | malformed
            names that do not agree        | CN=b           | spiffe://test/a     | ''             | 403 | contradiction
            a header that does not agree   | CN=b           | ''                  | 'X-Tenant-Id'  | 403 | contradiction
            a name of an unknown tenant    | O=test         | spiffe://test/z     | ''             | 403 | unknown-tenant
            an unknown common name         | CN=nobody      | ''                  | ''             | 403 | unknown-tenant
            a common name that is no id    | 'CN=a\\, b'    | ''                  | ''             | 403 | unknown-tenant
            a listed name at a wrong place | CN=spiffe://test/z | ''              | ''             | 403 | unknown-tenant
            no name of these kinds         | O=a            | ''                  | ''             | 401 | missing
            """)
    void a_certificate_names_its_tenant_or_is_refused(
            String what, String subject, String uris, String header, int status, String tenantOrReason)
            throws Exception {
        CertificateBuilder builder =
                new CertificateBuilder().ecp256().subject(subject).addExtendedKeyUsageClientAuth();
        for (String uri : uris.split(" ", -1)) {
            if (!uri.isEmpty()) {
                builder.addSanUriName(uri);
            }
        }
        Told told = ask(builder.buildIssuedBy(AUTHORITY), HttpProtocol.HTTP11, header.isEmpty() ? null : "a");
        assertThat(told.status()).as(what).isEqualTo(status);
        if (status == 200) {
            assertThat(both.got("X-Tenant-Id")).containsExactly("X-Tenant-Id: " + tenantOrReason);
        } else {
            assertThat(told.body()).contains("\"reason\":\"" + tenantOrReason + "\"");
        }
    }

    @Test
    void only_the_clients_own_certificate_is_read() throws Exception {
        X509Bundle between = new CertificateBuilder()
                .ecp256()
                .subject("CN=a")
                .setIsCertificateAuthority(true)
                .buildIssuedBy(AUTHORITY);
        X509Bundle own = new CertificateBuilder()
                .ecp256()
                .subject("CN=b")
                .addExtendedKeyUsageClientAuth()
                .buildIssuedBy(between);
        assertThat(own.getCertificatePath()).hasSizeGreaterThan(1);
        assertThat(ask(own, HttpProtocol.HTTP11, null).status()).isEqualTo(200);
        assertThat(both.got("X-Tenant-Id")).containsExactly("X-Tenant-Id: b");
    }

    @Test
    void over_http2_a_certificate_counts_as_well() throws Exception {
        X509Bundle own = new CertificateBuilder()
                .ecp256()
                .subject("CN=b")
                .addExtendedKeyUsageClientAuth()
                .buildIssuedBy(AUTHORITY);
        assertThat(ask(own, HttpProtocol.H2, null).status()).isEqualTo(200);
        assertThat(both.got("X-Tenant-Id")).containsExactly("X-Tenant-Id: b");
    }

    @Test
    void without_a_certificate_the_other_sources_count() throws Exception {
        assertThat(ask(null, HttpProtocol.HTTP11, "a").status()).isEqualTo(200);
        assertThat(ask(null, HttpProtocol.HTTP11, null).status()).isEqualTo(401);
    }

    @Test
    void a_certificate_of_another_authority_is_refused_by_tls() throws Exception {
        X509Bundle own = new CertificateBuilder()
                .ecp256()
                .subject("CN=a")
                .addExtendedKeyUsageClientAuth()
                .buildIssuedBy(STRANGER);
        assertThatThrownBy(() -> ask(own, HttpProtocol.HTTP11, "a")).hasRootCauseInstanceOf(IOException.class);
        assertThat(both.upstream().requests()).isEmpty();
    }

    private static X509Bundle selfSigned(String subject) {
        try {
            return new CertificateBuilder()
                    .ecp256()
                    .subject(subject)
                    .setIsCertificateAuthority(true)
                    .buildSelfSigned();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static Path file(String name, String pem) throws IOException {
        return Files.writeString(folder.resolve(name), pem);
    }

    private static Told ask(@Nullable X509Bundle own, HttpProtocol protocol, @Nullable String tenant) throws Exception {
        SslContextBuilder tls = SslContextBuilder.forClient().trustManager(AUTHORITY.getCertificate());
        if (own != null) {
            tls.keyManager(own.getKeyPair().getPrivate(), own.getCertificatePath());
        }
        if (protocol == HttpProtocol.H2) {
            tls.applicationProtocolConfig(new ApplicationProtocolConfig(
                    ApplicationProtocolConfig.Protocol.ALPN,
                    ApplicationProtocolConfig.SelectorFailureBehavior.NO_ADVERTISE,
                    ApplicationProtocolConfig.SelectedListenerFailureBehavior.ACCEPT,
                    ApplicationProtocolNames.HTTP_2));
        }
        SslContext context = tls.build();
        Told told = HttpClient.newConnection()
                .protocol(protocol)
                .secure(spec -> spec.sslContext(context))
                .headers(headers -> {
                    if (tenant != null) {
                        headers.add("X-Tenant-Id", tenant);
                    }
                })
                .get()
                .uri("https://127.0.0.1:" + both.gateway().port() + "/x")
                .responseSingle((response, body) -> body.asString()
                        .defaultIfEmpty("")
                        .map(text -> new Told(response.status().code(), text)))
                .block();
        return Objects.requireNonNull(told);
    }
}
