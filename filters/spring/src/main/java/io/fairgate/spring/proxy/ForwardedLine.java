package io.fairgate.spring.proxy;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads a line of a {@code Forwarded} header (RFC 7239, 4), in one pass. */
final class ForwardedLine {

    private static final String MARKS = "!#$%&'*+-.^_`|~";

    /** Some proxies do not quote the value, although they should if it has one of these. */
    private static final String OF_HOSTS = ":[]";

    /**
     * What one proxy says of the request that it received.
     *
     * @param node where it came from
     * @param proto its scheme
     * @param host its host
     */
    record Element(
            @Nullable String node,
            @Nullable String proto,
            @Nullable String host) {}

    private final String line;
    private int at;
    private @Nullable String node;
    private @Nullable String proto;
    private @Nullable String host;

    private ForwardedLine(String line) {
        this.line = line;
    }

    /**
     * The elements of a line; null if it is malformed. A client that leaves a quote open makes the whole line malformed, because its
     * part has no end that can be told from the part of the proxy.
     */
    static @Nullable List<Element> parse(String line) {
        return new ForwardedLine(line).elements();
    }

    private @Nullable List<Element> elements() {
        List<Element> elements = new ArrayList<>();
        boolean isEmpty = true;
        while (true) {
            skipSpace();
            if (isEnd() || line.charAt(at) == ',') {
                if (!isEmpty) {
                    elements.add(new Element(node, proto, host));
                    node = null;
                    proto = null;
                    host = null;
                    isEmpty = true;
                }
                if (isEnd()) {
                    return elements;
                }
                at++;
            } else if (line.charAt(at) == ';') {
                at++;
            } else if (!pair()) {
                return null;
            } else {
                isEmpty = false;
            }
        }
    }

    /** Reads a pair, and the space behind it; false if it is malformed, or says something a second time. */
    private boolean pair() {
        String name = word("");
        if (name.isEmpty() || isEnd() || line.charAt(at++) != '=' || isEnd()) {
            return false;
        }
        String value = line.charAt(at) == '"' ? quoted() : word(OF_HOSTS);
        if (value == null || value.isEmpty() || !note(name, value)) {
            return false;
        }
        skipSpace();
        return isEnd() || line.charAt(at) == ';' || line.charAt(at) == ',';
    }

    private boolean note(String name, String value) {
        if (name.equalsIgnoreCase("for")) {
            boolean isFirst = node == null;
            node = value;
            return isFirst;
        } else if (name.equalsIgnoreCase("proto")) {
            boolean isFirst = proto == null;
            proto = value;
            return isFirst;
        } else if (name.equalsIgnoreCase("host")) {
            boolean isFirst = host == null;
            host = value;
            return isFirst;
        }
        return true;
    }

    /** @param others the characters besides those of a token (RFC 9110, 5.6.2) */
    private String word(String others) {
        int start = at;
        while (!isEnd() && (isOfToken(line.charAt(at)) || others.indexOf(line.charAt(at)) >= 0)) {
            at++;
        }
        return line.substring(start, at);
    }

    /** Null if the quote is left open. */
    private @Nullable String quoted() {
        StringBuilder text = new StringBuilder();
        for (at++; !isEnd(); at++) {
            char c = line.charAt(at);
            if (c == '"') {
                at++;
                return text.toString();
            } else if (c == '\\' && ++at == line.length()) {
                return null;
            }
            text.append(line.charAt(at));
        }
        return null;
    }

    private void skipSpace() {
        while (!isEnd() && (line.charAt(at) == ' ' || line.charAt(at) == '\t')) {
            at++;
        }
    }

    private boolean isEnd() {
        return at >= line.length();
    }

    private static boolean isOfToken(char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || MARKS.indexOf(c) >= 0;
    }
}
