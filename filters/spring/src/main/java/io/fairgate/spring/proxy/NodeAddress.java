package io.fairgate.spring.proxy;

import io.fairgate.policy.IpAddress;
import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/** The address of a client or a proxy as another proxy writes it: an IP address, with or without brackets and a port. */
final class NodeAddress {

    private NodeAddress() {}

    /** The address; null if the text is none, as {@code unknown} or {@code _hidden} (RFC 7239, 6). */
    static @Nullable InetAddress parse(String text) {
        if (text.startsWith("[")) {
            int end = text.indexOf(']');
            return end > 0 && isEndOrPort(text, end + 1) ? IpAddress.parse(text.substring(1, end)) : null;
        }
        int colon = text.indexOf(':');
        boolean isWithPort = colon >= 0 && text.indexOf(':', colon + 1) < 0; // Two colons are an IPv6 address.
        if (!isWithPort) {
            return IpAddress.parse(text);
        }
        return isEndOrPort(text, colon) ? IpAddress.parse(text.substring(0, colon)) : null;
    }

    /** Some proxies hide the number of the port behind another name, as RFC 7239 allows. */
    private static boolean isEndOrPort(String text, int at) {
        if (at == text.length()) {
            return true;
        }
        for (int i = at + 1; i < text.length(); i++) {
            char c = text.charAt(i);
            if (!Character.isLetterOrDigit(c) && c != '.' && c != '_' && c != '-') {
                return false;
            }
        }
        return text.charAt(at) == ':';
    }
}
