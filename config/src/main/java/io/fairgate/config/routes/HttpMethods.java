package io.fairgate.config.routes;

import io.fairgate.config.yaml.Suggestions;
import io.fairgate.config.yaml.Value;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

/** Checks names of methods, which Spring takes as they are: one that is misspelt matches no request. */
public final class HttpMethods {

    /** Those that are suggested. */
    private static final List<String> COMMON =
            List.of("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE");

    /** The others of the registry "Hypertext Transfer Protocol (HTTP) Method Registry" of IANA, and PURGE, which caches know. */
    private static final Set<String> OTHERS = Set.of(
            "ACL",
            "BASELINE-CONTROL",
            "BIND",
            "CHECKIN",
            "CHECKOUT",
            "CONNECT",
            "COPY",
            "LABEL",
            "LINK",
            "LOCK",
            "MERGE",
            "MKACTIVITY",
            "MKCALENDAR",
            "MKCOL",
            "MKREDIRECTREF",
            "MKWORKSPACE",
            "MOVE",
            "ORDERPATCH",
            "PRI",
            "PROPFIND",
            "PROPPATCH",
            "PURGE",
            "QUERY",
            "REBIND",
            "REPORT",
            "SEARCH",
            "UNBIND",
            "UNCHECKOUT",
            "UNLINK",
            "UNLOCK",
            "UPDATE",
            "UPDATEREDIRECTREF",
            "VERSION-CONTROL");

    /** RFC 9110, section 5.6.2. */
    private static final Pattern TOKEN = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]+");

    private HttpMethods() {}

    /**
     * Notes a mistake for a method in lower case, and a warning for one that is not registered: a private one is allowed.
     *
     * @param place of the mistake
     */
    static void check(Value value, Value place) {
        String method = Written.text(value);
        String upper = method.toUpperCase(Locale.ROOT);
        if (isRegistered(method) || Written.isExpression(method)) {
            return;
        } else if (isRegistered(upper)) {
            place.mistake(value.shown(), upper + ", because methods are in upper case");
        } else if (!isToken(method)) {
            place.mistake(value.shown(), "a method of HTTP, such as GET");
        } else {
            place.warn("%s is not a registered method of HTTP%s"
                    .formatted(value.shown(), Suggestions.didYouMean(upper, COMMON)));
        }
    }

    /** Whether a text may be the name of a method or a header. */
    static boolean isToken(String text) {
        return TOKEN.matcher(text).matches();
    }

    private static boolean isRegistered(String method) {
        return COMMON.contains(method) || OTHERS.contains(method);
    }
}
