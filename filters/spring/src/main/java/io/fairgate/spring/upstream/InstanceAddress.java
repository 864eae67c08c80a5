package io.fairgate.spring.upstream;

import io.fairgate.upstream.Instance;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.UnknownHostException;
import org.jspecify.annotations.Nullable;
import reactor.netty.transport.AddressUtils;

/**
 * Where the requests for one instance go.
 *
 * @param uri scheme, host and port, as the policy has them
 * @param ip the address of the instance, if its host is a name with several addresses; null to leave the name to the HTTP client
 */
public record InstanceAddress(URI uri, @Nullable InetAddress ip) {

    private static final int HTTP_PORT = 80;
    private static final int HTTPS_PORT = 443;

    /** Without brackets, if it is an IPv6 address. */
    String host() {
        return host(uri);
    }

    static String host(URI uri) {
        String host = uri.getHost();
        return host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
    }

    private int port() {
        int standard = Instance.isSecure(uri) ? HTTPS_PORT : HTTP_PORT;
        return uri.getPort() < 0 ? standard : uri.getPort();
    }

    /** The value of {@code Host}, as Reactor Netty writes it. */
    public String authority() {
        int port = uri.getPort();
        return port < 0 || port == HTTP_PORT || port == HTTPS_PORT ? uri.getHost() : uri.getHost() + ":" + port;
    }

    /** The address to connect to. An IP address keeps its text as its name: Reactor Netty asks for the name at each request. */
    public InetSocketAddress socketAddress() {
        if (ip != null) {
            return named(ip);
        }
        InetSocketAddress address = AddressUtils.createUnresolved(host(), port());
        return address.isUnresolved() ? address : named(address.getAddress());
    }

    private InetSocketAddress named(InetAddress address) {
        try {
            return new InetSocketAddress(InetAddress.getByAddress(host(), address.getAddress()), port());
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException(e); // Never: the address has its right length.
        }
    }

    /** Scheme, host and port of a request, with the address in the place of the name. */
    URI base() {
        String host = uri.getHost();
        if (ip != null) {
            String address = ip.getHostAddress();
            host = address.contains(":") ? "[" + address + "]" : address;
        }
        return URI.create(uri.getScheme() + "://" + host + (uri.getPort() < 0 ? "" : ":" + uri.getPort()));
    }

    /** Host and port, or address and port: how logs and metrics name the instance. */
    @Override
    public String toString() {
        String host = ip == null ? host() : ip.getHostAddress();
        return (host.contains(":") ? "[" + host + "]" : host) + ":" + port();
    }
}
