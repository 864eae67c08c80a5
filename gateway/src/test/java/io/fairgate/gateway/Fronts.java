package io.fairgate.gateway;

import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import javax.net.ssl.SSLContext;

/** An nginx and an HAProxy in front of one gateway, each with TLS and without. */
final class Fronts implements AutoCloseable {

    private final Map<FrontProxy.Kind, FrontProxy> proxies = new EnumMap<>(FrontProxy.Kind.class);

    /**
     * Starts both, with a certificate of their own.
     *
     * @param folder for their files
     * @param gateway the port of the gateway
     */
    void start(Path folder, int gateway) throws Exception {
        X509Bundle server = new CertificateBuilder()
                .ecp256()
                .subject("CN=front")
                .addSanDnsName("localhost")
                .setIsCertificateAuthority(true)
                .buildSelfSigned();
        Files.writeString(folder.resolve("tls.crt"), server.getCertificatePathPEM());
        Files.writeString(folder.resolve("tls.key"), server.getPrivateKeyPEM());
        Files.writeString(folder.resolve("tls.pem"), server.getCertificatePathPEM() + server.getPrivateKeyPEM());
        for (FrontProxy.Kind kind : FrontProxy.Kind.values()) {
            proxies.put(kind, new FrontProxy(kind, folder, gateway));
        }
    }

    FrontProxy of(FrontProxy.Kind kind) {
        return Objects.requireNonNull(proxies.get(kind));
    }

    static SSLContext trusting() throws GeneralSecurityException {
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, InsecureTrustManagerFactory.INSTANCE.getTrustManagers(), null);
        return context;
    }

    RawClient client(FrontProxy.Kind kind, boolean isSecure) throws IOException, GeneralSecurityException {
        return client(isSecure, new Socket(InetAddress.getLoopbackAddress(), port(kind, isSecure)));
    }

    RawClient slowClient(FrontProxy.Kind kind, boolean isSecure) throws IOException, GeneralSecurityException {
        return client(isSecure, RawClient.smallBuffer(port(kind, isSecure)));
    }

    private int port(FrontProxy.Kind kind, boolean isSecure) {
        return isSecure ? of(kind).tlsPort() : of(kind).plainPort();
    }

    private static RawClient client(boolean isSecure, Socket socket) throws IOException, GeneralSecurityException {
        return new RawClient(
                isSecure
                        ? trusting().getSocketFactory().createSocket(socket, "localhost", socket.getPort(), true)
                        : socket);
    }

    @Override
    public void close() {
        for (FrontProxy proxy : proxies.values()) {
            proxy.close();
        }
    }
}
