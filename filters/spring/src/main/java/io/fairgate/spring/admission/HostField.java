package io.fairgate.spring.admission;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.Iterator;

/**
 * The {@code Host} field of a request: {@code uri-host [ ":" port ]} (RFC 9110, 7.2). A comma is not accepted, although RFC
 * 3986 allows it in names: it may come from a proxy that has joined two fields.
 */
final class HostField {

    private static final String IN_NAMES = "-._~%!$&'()*+;=";
    private static final int HIGHEST_PORT = 65_535;

    private HostField() {}

    /** Whether the request has exactly one such field, with a valid value. It may have none if the field is not needed. */
    static boolean isValid(HttpHeaders headers, boolean isNeeded) {
        Iterator<? extends CharSequence> values = headers.valueCharSequenceIterator(HttpHeaderNames.HOST);
        if (!values.hasNext()) {
            return !isNeeded;
        }
        return isHost(values.next()) && !values.hasNext();
    }

    private static boolean isHost(CharSequence value) {
        int end = !value.isEmpty() && value.charAt(0) == '[' ? endOfAddress(value) : endOfName(value);
        return end > 0 && (end == value.length() || (value.charAt(end) == ':' && isPort(value, end + 1)));
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

    /** No digits at all are a valid port (RFC 3986, 3.2.3). */
    private static boolean isPort(CharSequence value, int start) {
        int port = 0;
        for (int i = start; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c < '0' || c > '9') {
                return false;
            }
            port = port * 10 + (c - '0');
            if (port > HIGHEST_PORT) {
                return false;
            }
        }
        return true;
    }
}
