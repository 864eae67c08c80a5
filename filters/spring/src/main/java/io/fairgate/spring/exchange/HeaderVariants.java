package io.fairgate.spring.exchange;

import java.util.List;
import java.util.function.Predicate;
import org.springframework.web.server.ServerWebExchange;

/**
 * Variants of a header's name that are one name for programs behind CGI, WSGI and the like: {@code X-Tenant-Id},
 * {@code x_tenant_id} and {@code X.Tenant.Id} are all {@code HTTP_X_TENANT_ID} there.
 */
public final class HeaderVariants {

    private HeaderVariants() {}

    public static boolean isSame(CharSequence name, String other) {
        return name.length() == other.length() && startsWith(name, other);
    }

    public static boolean startsWith(CharSequence name, String prefix) {
        if (name.length() < prefix.length()) {
            return false;
        }
        for (int i = 0; i < prefix.length(); i++) {
            if (folded(name.charAt(i)) != folded(prefix.charAt(i))) {
                return false;
            }
        }
        return true;
    }

    /** Compares character by character, without a copy of the name: this runs for each header of each request. */
    private static char folded(char c) {
        if (c >= 'A' && c <= 'Z') {
            return (char) (c + ('a' - 'A'));
        }
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ? c : '-';
    }

    /**
     * The request without some values of its headers.
     *
     * @param names the names of the headers that lose values
     * @param values the values that they lose
     */
    public static ServerWebExchange without(
            ServerWebExchange exchange, Predicate<String> names, Predicate<String> values) {
        if (exchange.getRequest().getHeaders().headerNames().stream().noneMatch(names)) {
            return exchange;
        }
        return exchange.mutate()
                .request(request -> request.headers(headers -> {
                    for (String name : List.copyOf(headers.headerNames())) {
                        if (names.test(name)) {
                            List<String> sent = headers.getOrDefault(name, List.of());
                            headers.remove(name);
                            sent.stream().filter(values.negate()).forEach(value -> headers.add(name, value));
                        }
                    }
                }))
                .build();
    }
}
