package io.fairgate.gateway;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;

/**
 * nginx or HAProxy, as the system has it, in front of a gateway. Its configuration is the one in docs/proxies.md, with other ports,
 * 127.0.0.2 as the address from which it connects, ten minutes for clients that read nothing, and 64 KB of a response that it keeps for
 * each client. It ends with the test, also when the JVM is killed.
 */
final class FrontProxy implements AutoCloseable {

    enum Kind {
        NGINX,
        HAPROXY
    }

    private final Process process;
    private final int plainPort = freePort();
    private final int tlsPort = freePort();

    /**
     * Starts it.
     *
     * @param folder for its files; it must have {@code tls.crt}, {@code tls.key} and both as {@code tls.pem}
     * @param gateway the port of the gateway
     */
    FrontProxy(Kind kind, Path folder, int gateway) throws IOException {
        Path settings = folder.resolve(kind + ".conf");
        Files.writeString(settings, kind == Kind.NGINX ? nginx(folder, gateway) : haproxy(folder, gateway));
        List<String> command = new ArrayList<>(List.of("setpriv", "--pdeathsig", "KILL"));
        command.addAll(
                kind == Kind.NGINX
                        ? List.of("nginx", "-e", "stderr", "-p", folder.toString(), "-c", settings.toString())
                        : List.of("haproxy", "-db", "-f", settings.toString()));
        process = new ProcessBuilder(command).inheritIO().start();
        Awaitility.await().atMost(Duration.ofSeconds(20)).until(this::accepts);
    }

    private boolean accepts() throws IOException {
        if (!process.isAlive()) {
            throw new IllegalStateException("the proxy has ended; its output says why");
        }
        try (Socket plain = new Socket(InetAddress.getLoopbackAddress(), plainPort)) {
            return plain.isConnected();
        } catch (ConnectException e) {
            return false;
        }
    }

    /** The block of this language on a page of the documentation. */
    static String block(String page, String language) throws IOException {
        Matcher block = Pattern.compile("```" + language + "\n(.*?)```", Pattern.DOTALL)
                .matcher(Files.readString(Path.of("..", "docs", page)));
        if (!block.find()) {
            throw new IllegalStateException("docs/%s has no block of %s".formatted(page, language));
        }
        return block.group(1);
    }

    static String replaced(String text, String... pairs) {
        String changed = text;
        for (int i = 0; i < pairs.length; i += 2) {
            if (!changed.contains(pairs[i])) {
                throw new IllegalStateException(pairs[i] + " is not in:\n" + text);
            }
            changed = changed.replace(pairs[i], pairs[i + 1]);
        }
        return changed;
    }

    private String nginx(Path folder, int gateway) throws IOException {
        String server = replaced(
                block("proxies.md", "nginx"),
                "127.0.0.1:8080",
                "127.0.0.1:" + gateway,
                "listen 443 ssl;",
                "listen 127.0.0.1:%d ssl sndbuf=64k; listen 127.0.0.1:%d sndbuf=64k;".formatted(tlsPort, plainPort),
                "/etc/nginx/tls",
                folder.resolve("tls").toString(),
                "proxy_pass ",
                "proxy_bind 127.0.0.2; proxy_pass ");
        return nginxAround("", server);
    }

    /** A whole configuration of nginx with this server. One process, which ends at once when it is killed. */
    static String nginxAround(String events, String server) {
        return """
                daemon off;
                master_process off;
                pid nginx.pid;
                events { %s }
                http {
                access_log off;
                send_timeout 10m;
                client_body_temp_path body;
                proxy_temp_path proxy;
                fastcgi_temp_path fastcgi;
                uwsgi_temp_path uwsgi;
                scgi_temp_path scgi;
                %s}
                """.formatted(events, server);
    }

    private String haproxy(Path folder, int gateway) throws IOException {
        return "global\n    tune.sndbuf.client 65536\ndefaults\n    timeout connect 10s\n    timeout client 10m\n"
                + replaced(
                        block("proxies.md", "haproxy"),
                        "127.0.0.1:8080",
                        "127.0.0.1:" + gateway + " source 127.0.0.2",
                        "bind :443",
                        "bind 127.0.0.1:%d\n    bind 127.0.0.1:%d".formatted(plainPort, tlsPort),
                        "/etc/haproxy/tls.pem",
                        folder.resolve("tls.pem").toString());
    }

    static int freePort() {
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return free.getLocalPort();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    int plainPort() {
        return plainPort;
    }

    int tlsPort() {
        return tlsPort;
    }

    @Override
    public void close() {
        process.destroyForcibly().onExit().join();
    }
}
