package io.fairgate.policy;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads the text of an IP address. */
public final class IpAddress {

    /** An IPv6 address that ends with an IPv4 address (RFC 4291, 2.2). */
    private static final int LONGEST = 45;

    private static final String OCTET = "(25[0-5]|2[0-4]\\d|1?\\d?\\d)";

    /** Only addresses: {@link InetAddress#getByName} must never get a name that it would look up. */
    private static final Pattern ADDRESS =
            Pattern.compile(OCTET + "(\\." + OCTET + "){3}|[0-9a-fA-F]*+:[0-9a-fA-F:.]*+");

    private IpAddress() {}

    /**
     * The address; null when the text is something else. An IPv6 address has no brackets and no zone. An IPv4 address that is
     * written as an IPv6 address is read as the IPv4 address.
     */
    public static @Nullable InetAddress parse(String text) {
        if (text.length() > LONGEST || !ADDRESS.matcher(text).matches()) {
            return null;
        }
        try {
            return InetAddress.getByName(text);
        } catch (UnknownHostException e) {
            return null;
        }
    }
}
