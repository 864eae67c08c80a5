package io.fairgate.config.routes;

import io.fairgate.config.yaml.Value;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** Finds arguments that Spring Cloud Gateway would ignore, and predicates that no request meets. */
public final class ComponentCheck {

    private static final Pattern CREDENTIALS = Pattern.compile("://[^/?#]*@");

    /** Outside of the name of a variable. */
    private static final Pattern UPPER_CASE = Pattern.compile("[A-Z](?![^{]*})");

    private final Written written;

    private ComponentCheck(Written written) {
        this.written = written;
    }

    /** Notes mistakes and warnings. */
    public static void check(Written written, Component component) {
        ComponentCheck check = new ComponentCheck(written);
        check.checkIgnored(component);
        switch (written.name()) {
            case "Path" -> check.checkPaths();
            case "Method" ->
                check.listed("GET, POST", ",").forEach(method -> HttpMethods.check(method, written.place(method)));
            case "Host" -> check.checkHosts();
            case "RemoteAddr", "XForwardedRemoteAddr" -> check.listed("10.0.0.0/8, 192.168.0.0/16", ",");
            case "Retry" -> check.checkRetriedMethods();
            case "ReadBody" -> check.checkGiven("predicate", "a bean of a library, such as \"#{@isLarge}\"");
            case "Weight" -> check.checkWeight();
            case "RedirectTo" -> check.warnOfCredentials("every client gets the credentials in this URI");
            case "SetRequestUri" -> check.warnOfCredentials("the credentials in this URI are not sent");
            default -> {
                // Spring Cloud Gateway builds it, or does not.
            }
        }
    }

    private void checkIgnored(Component component) {
        Map<String, Value> given = new LinkedHashMap<>();
        written.arguments().forEach((argument, value) -> {
            Map<String, Value> nested = value.entriesOrNull();
            if (nested == null || nested.isEmpty()) {
                given.put(argument, value);
            } else {
                nested.forEach((below, deeper) -> given.put(argument + "." + below, deeper));
            }
        });
        Map<String, String> texts = new LinkedHashMap<>();
        given.forEach((argument, value) -> texts.put(argument, value.shown()));
        component.check(texts, (argument, found, expected) -> {
            Value value = given.get(argument);
            (written.isShort() || value == null ? written.value() : value).mistake(found, expected);
        });
    }

    private void checkPaths() {
        for (Value pattern : listed("/orders/**, /invoices/**", ",\\s*/")) {
            String text = Written.text(pattern);
            if (Written.isFlag(pattern)) {
                written.place(pattern)
                        .mistake(
                                "matchTrailingSlash after the paths, because Spring Cloud Gateway reads these arguments in order");
            } else if (!text.startsWith("/") && !Written.isExpression(text)) {
                written.place(pattern)
                        .mistake(pattern.shown(), "a path that begins with /; this one matches no request");
            }
        }
    }

    private void checkHosts() {
        for (Value host : listed("a.example.com, b.example.com", ",")) {
            String text = Written.text(host);
            if (text.contains("://")) {
                written.place(host).mistake(host.shown(), "a host without a scheme, such as api.example.com");
            } else if (!Written.isExpression(text) && UPPER_CASE.matcher(text).find()) {
                written.place(host)
                        .warn("%s has letters in upper case, and clients send hosts in lower case"
                                .formatted(host.shown()));
            }
        }
    }

    /**
     * Returns the items of a list. Notes a mistake if the list is empty, and if an item of the long form has several values,
     * because Spring Cloud Gateway splits texts at commas in the short form only.
     *
     * @param comma a pattern of what is between two items, and not in one
     */
    private List<Value> listed(String example, String comma) {
        List<Value> items = written.items();
        if (items.isEmpty()) {
            written.value().mistake("%s with at least one argument".formatted(written.name()));
        }
        for (Value item : items) {
            if (item.scalar() == null) {
                item.mistake("a text, or a list of texts such as [%s]".formatted(example));
                return List.of();
            } else if (Written.text(item).split(comma, 2).length > 1) {
                item.mistake(
                        "a list such as [%s]; Spring Cloud Gateway does not split a text there".formatted(example));
                return List.of();
            }
        }
        return items;
    }

    /** In the short form, the third argument is one method. In the long form, a text may have several. */
    private void checkRetriedMethods() {
        Value methods = written.arguments().get(written.isShort() ? Component.POSITION + 2 : "methods");
        if (methods == null) {
            return;
        }
        List<Value> items = methods.scalar() == null ? methods.itemsOrNull() : methods.split();
        for (Value method : items == null ? List.of(methods) : items) {
            if (method.scalar() == null) {
                method.mistake("a method, or a list of methods such as [GET, PUT]");
            } else {
                HttpMethods.check(method, written.place(method));
            }
        }
    }

    private void checkGiven(String argument, String expected) {
        if (!written.arguments().containsKey(argument)) {
            written.value().mistake("%s without a %s".formatted(written.name(), argument), expected);
        }
    }

    /** A route without a weight above 0 gets no request. */
    private void checkWeight() {
        if (written.isShort() && !written.argument(1, "").matches("#\\{.*|0*[1-9][0-9]*")) {
            written.value().mistake("Weight=group,weight, with a weight of at least 1");
        }
    }

    private void warnOfCredentials(String consequence) {
        boolean hasCredentials = written.arguments().values().stream()
                .anyMatch(
                        argument -> CREDENTIALS.matcher(Written.text(argument)).find());
        if (hasCredentials) {
            written.value().warn(consequence);
        }
    }
}
