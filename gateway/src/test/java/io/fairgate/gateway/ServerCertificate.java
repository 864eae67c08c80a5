package io.fairgate.gateway;

import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** A self-signed certificate, with which a gateway serves TLS. */
final class ServerCertificate {

    private ServerCertificate() {}

    /** Writes the certificate and its key into the folder; the options with which a gateway uses them. */
    static List<String> options(Path folder) throws Exception {
        X509Bundle server = new CertificateBuilder()
                .ecp256()
                .subject("CN=gateway")
                .setIsCertificateAuthority(true)
                .buildSelfSigned();
        Path certificate = Files.writeString(folder.resolve("server.pem"), server.getCertificatePathPEM());
        Path key = Files.writeString(folder.resolve("server.key"), server.getPrivateKeyPEM());
        return List.of("--server.ssl.certificate=" + certificate, "--server.ssl.certificate-private-key=" + key);
    }
}
