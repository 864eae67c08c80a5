package io.fairgate.spring.exchange;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.Iterator;

/**
 * The {@code Host} field of a request: {@code uri-host [ ":" port ]} (RFC 9110, 7.2). A comma is not accepted, although RFC
 * 3986 allows it in names: it may come from a proxy that has joined two fields.
 */
public final class HostField {

    private static final String IN_NAMES = "-._~%!$&'()*+;=";
    /** The first ones of those are in the names of real hosts. */
    private static final int IN_PLAIN_NAMES = 3;

    /** 253 characters of a name (RFC 1035, 2.3.4), and a port. */
    private static final int LONGEST = 259;

    private static final int HIGHEST_PORT = 65_535;

    private HostField() {}

    /** Whether the request has exactly one such field, with a valid value. It may have none if the field is not needed. */
    public static boolean isValid(HttpHeaders headers, boolean isNeeded) {
        Iterator<? extends CharSequence> values = headers.valueCharSequenceIterator(HttpHeaderNames.HOST);
        if (!values.hasNext()) {
            return !isNeeded;
        }
        return isHost(values.next()) && !values.hasNext();
    }

    /** Whether this is a host with or without a port. */
    private static boolean isHost(CharSequence value) {
        int end = endOfHost(value);
        return end > 0 && (end == value.length() || (value.charAt(end) == ':' && digits(value, end + 1) >= 0));
    }

    /**
     * Whether this is a host that an upstream may be told of: not long, and without the characters that some programs take for the end of
     * a value in {@code Forwarded}, although it is quoted.
     */
    public static boolean isPlainHost(CharSequence value) {
        for (int i = 0; i < value.length(); i++) {
            if (IN_NAMES.indexOf(value.charAt(i), IN_PLAIN_NAMES) >= 0) {
                return false;
            }
        }
        return value.length() <= LONGEST && isHost(value);
    }

    /** The port that a value with a valid host names; {@code otherwise} if it names none. */
    public static int port(CharSequence value, int otherwise) {
        return portAt(value, endOfHost(value) + 1, otherwise);
    }

    /** The port that is the whole text; {@code otherwise} if it is none. */
    public static int portAlone(CharSequence text, int otherwise) {
        return portAt(text, 0, otherwise);
    }

    private static int portAt(CharSequence text, int start, int otherwise) {
        int port = start < text.length() ? digits(text, start) : 0;
        return port > 0 ? port : otherwise;
    }

    private static int endOfHost(CharSequence value) {
        return !value.isEmpty() && value.charAt(0) == '[' ? endOfAddress(value) : endOfName(value);
    }

    /** The position after the closing bracket of an IPv6 address; -1 if the brackets do not contain an address. */
    private static int endOfAddress(CharSequence value) {
        for (int i = 1; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c == ']') {
                return i > 1 ? i + 1 : -1;
            } else if (Character.digit(c, 16) < 0 && c != ':' && c != '.') {
                return -1;
            }
        }
        return -1;
    }

    private static int endOfName(CharSequence value) {
        int i = 0;
        while (i < value.length() && isOfName(value.charAt(i))) {
            i++;
        }
        return i;
    }

    private static boolean isOfName(char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || IN_NAMES.indexOf(c) >= 0;
    }

    /** The number of a port; 0 without any digit, which is valid (RFC 3986, 3.2.3), and -1 if it is none. */
    private static int digits(CharSequence value, int start) {
        int port = 0;
        for (int i = start; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c < '0' || c > '9') {
                return -1;
            }
            port = port * 10 + (c - '0');
            if (port > HIGHEST_PORT) {
                return -1;
            }
        }
        return port;
    }
}
