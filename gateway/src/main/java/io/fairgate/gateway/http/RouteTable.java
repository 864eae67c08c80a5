package io.fairgate.gateway.http;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpStatus;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebHandler;
import reactor.core.publisher.Mono;

/**
 * Routes by method and path. When several routes match, a literal segment comes before a variable one. HEAD is answered like
 * GET. A path that only has other methods is answered with 405 and {@code Allow}; every other path goes to the handler for
 * unknown paths.
 *
 * <p>Paths are compared byte by byte: a trailing slash makes another path, and an encoded slash is part of a segment.
 */
public final class RouteTable implements WebHandler {

    private final List<Entry> entries;
    private final Call.Handler unknown;
    private final Call.Handler notAllowed;

    /** One path, with the handler of each of its methods. */
    private record Entry(String template, List<String> segments, Map<HttpMethod, Call.Handler> methods) {

        /** The values of the variable segments; null when the path does not match. */
        @Nullable
        Map<String, String> match(List<String> path) {
            if (path.size() != segments.size()) {
                return null;
            }
            Map<String, String> parts = new LinkedHashMap<>();
            for (int i = 0; i < path.size(); i++) {
                String segment = segments.get(i);
                boolean isVariable = isVariable(segment);
                if (isVariable ? path.get(i).isEmpty() : !segment.equals(path.get(i))) {
                    return null;
                }
                if (isVariable) {
                    parts.put(segment.substring(1, segment.length() - 1), path.get(i));
                }
            }
            return parts;
        }

        Set<String> allowed() {
            Set<String> names = new TreeSet<>();
            for (HttpMethod method : methods.keySet()) {
                names.add(method.name());
                if (method.equals(HttpMethod.GET)) {
                    names.add(HttpMethod.HEAD.name());
                }
            }
            return names;
        }

        private static boolean isVariable(String segment) {
            return segment.startsWith("{") && segment.endsWith("}");
        }

        /** Sorts routes: literal segments before variable ones, from left to right. */
        String rank() {
            return String.join(
                    "/", segments.stream().map(s -> isVariable(s) ? "1" : "0").toList());
        }
    }

    private RouteTable(List<Entry> entries, Call.Handler unknown, Call.Handler notAllowed) {
        this.entries = List.copyOf(entries);
        this.unknown = unknown;
        this.notAllowed = notAllowed;
    }

    /** Collects the routes. */
    public static final class Builder {
        private final Map<String, Map<HttpMethod, Call.Handler>> routes = new LinkedHashMap<>();

        /**
         * Adds one route.
         *
         * @param template a path, with variable segments as <code>{name}</code>
         */
        public Builder on(HttpMethod method, String template, Call.Handler handler) {
            Call.Handler before =
                    routes.computeIfAbsent(template, t -> new LinkedHashMap<>()).put(method, handler);
            if (before != null) {
                throw new IllegalArgumentException("route: %s %s (expected: once)".formatted(method, template));
            }
            return this;
        }

        /** Like the method with two parameters; the answer to other methods has no body. */
        public RouteTable otherwise(Call.Handler unknown) {
            return otherwise(unknown, call -> call.answer(HttpStatus.METHOD_NOT_ALLOWED));
        }

        /**
         * Builds the table of all added routes.
         *
         * @param unknown answers all other paths
         * @param notAllowed answers other methods of a path, with 405; {@code Allow} has been set
         */
        public RouteTable otherwise(Call.Handler unknown, Call.Handler notAllowed) {
            List<Entry> entries = routes.entrySet().stream()
                    .map(route -> new Entry(route.getKey(), segments(route.getKey()), Map.copyOf(route.getValue())))
                    .sorted(Comparator.comparing(Entry::rank))
                    .toList();
            return new RouteTable(entries, unknown, notAllowed);
        }
    }

    /** Every route as {@code METHOD /path}. */
    public Set<String> names() {
        Set<String> names = new TreeSet<>();
        entries.forEach(
                entry -> entry.methods().keySet().forEach(method -> names.add(method.name() + " " + entry.template())));
        return names;
    }

    @Override
    public Mono<Void> handle(ServerWebExchange exchange) {
        HttpMethod method = exchange.getRequest().getMethod();
        HttpMethod answers = method.equals(HttpMethod.HEAD) ? HttpMethod.GET : method;
        List<String> path = decoded(exchange);
        Set<String> allowed = new TreeSet<>();
        for (Entry entry : entries) {
            Map<String, String> parts = path == null ? null : entry.match(path);
            if (parts != null) {
                Call.Handler handler = entry.methods().get(answers);
                if (handler != null) {
                    return handler.handle(new Call(exchange, parts));
                }
                allowed.addAll(entry.allowed());
            }
        }
        Call call = new Call(exchange, Map.of());
        if (allowed.isEmpty()) {
            return unknown.handle(call);
        }
        exchange.getResponse().getHeaders().set(HttpHeaders.ALLOW, String.join(", ", allowed));
        return notAllowed.handle(call);
    }

    private static List<String> segments(String path) {
        return List.of(path.split("/", -1));
    }

    /** Null when the path cannot be decoded. In a path a plus sign stands for itself. */
    private static @Nullable List<String> decoded(ServerWebExchange exchange) {
        try {
            return segments(exchange.getRequest().getURI().getRawPath()).stream()
                    .map(segment -> URLDecoder.decode(segment.replace("+", "%2B"), StandardCharsets.UTF_8))
                    .toList();
        } catch (IllegalArgumentException e) {
            return null;
        }
    }
}
