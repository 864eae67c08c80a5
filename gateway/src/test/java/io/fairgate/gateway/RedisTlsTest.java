package io.fairgate.gateway;

import static io.fairgate.gateway.RunningGateway.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.redis.connection.RedisProcess;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** A gateway whose Redis speaks TLS. */
class RedisTlsTest {

    @RegisterExtension
    final RunningGateway gateway = new RunningGateway();

    @RegisterExtension
    final ScriptedUpstream upstream = new ScriptedUpstream();

    private Path folder;
    private Path certificate;
    private RedisProcess redis;

    @BeforeEach
    void start(@TempDir Path files) throws Exception {
        folder = files;
        X509Bundle server = certificate("localhost");
        certificate = Files.writeString(folder.resolve("certificate.pem"), server.getCertificatePEM());
        Path key = Files.writeString(folder.resolve("key.pem"), server.getPrivateKeyPEM());
        redis = RedisProcess.withTls(certificate, key);
    }

    private static X509Bundle certificate(String host) throws Exception {
        return new CertificateBuilder()
                .ecp256()
                .subject("CN=" + host)
                .addSanDnsName(host)
                .setIsCertificateAuthority(true)
                .addExtendedKeyUsageServerAuth()
                .buildSelfSigned();
    }

    @AfterEach
    void stop() {
        redis.close();
    }

    private void start(String... options) {
        List<String> all = new ArrayList<>(Arrays.asList(options));
        all.add("--fairgate.backend=redis");
        all.add("--spring.data.redis.port=" + redis.port());
        all.add("--spring.data.redis.ssl.bundle=redis");
        gateway.start(TestPolicy.onePool(upstream.url(), "permits: 4, max-wait: 20s"), all.toArray(String[]::new));
    }

    private static String trust(Path file) {
        return "--spring.ssl.bundle.pem.redis.truststore.certificate=file:" + file;
    }

    private int status() {
        return Answer.to(gateway.url("/fair/a"), "X-Tenant-Id", "a").status();
    }

    private String health() {
        return Answer.to(gateway.managementUrl("/actuator/health")).body();
    }

    @Test
    void a_trusted_redis_is_used() {
        start(trust(certificate));
        eventually(() -> assertThat(health()).contains("4 of 4 permits"));
        assertThat(status()).isEqualTo(200);
    }

    @Test
    void one_that_is_not_trusted_is_not_used_and_health_says_why() throws Exception {
        Path other = folder.resolve("other.pem");
        start(trust(Files.writeString(other, certificate("other").getCertificatePEM())));
        eventually(() -> assertThat(health()).contains("unable to find valid certification path"));
        assertThat(status()).isEqualTo(503);
    }

    @Test
    void one_with_another_name_is_not_used() {
        start(trust(certificate), "--spring.data.redis.host=127.0.0.1");
        eventually(() -> assertThat(health()).contains("No subject alternative names matching IP address"));
        assertThat(status()).isEqualTo(503);
    }
}
