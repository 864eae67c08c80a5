package io.fairgate.gateway.http;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebHandler;
import reactor.core.publisher.Mono;

/**
 * Routes by method and path. When several routes match, the first one answers. HEAD is answered like GET. A path that
 * only has other methods is answered with 405 and {@code Allow}; all others go to the handler for unknown paths.
 *
 * <p>Paths are compared byte by byte: a trailing slash makes another path, an encoded slash is part of a segment, and so is a
 * semicolon. Spring's functional routes cut a segment at a semicolon, but the name of a semaphore may contain one.
 */
public final class RouteTable implements WebHandler {

    /** By their templates. */
    private final Map<String, Path> paths = new LinkedHashMap<>();

    private final HttpCall.Handler unknown;
    private final HttpCall.Handler notAllowed;

    /** One method of one path. The template of the path has variable segments as <code>{name}</code>. */
    public record Route(HttpMethod method, String template, HttpCall.Handler handler) {}

    private record Path(List<String> segments, Map<HttpMethod, HttpCall.Handler> handlers) {

        /** The values of the variable segments; null when the path does not match. */
        @Nullable
        Map<String, String> match(List<String> path) {
            if (path.size() != segments.size()) {
                return null;
            }
            Map<String, String> parts = new LinkedHashMap<>();
            for (int i = 0; i < path.size(); i++) {
                String segment = segments.get(i);
                if (segment.startsWith("{") && !path.get(i).isEmpty()) {
                    parts.put(segment.substring(1, segment.length() - 1), path.get(i));
                } else if (!segment.equals(path.get(i))) {
                    return null;
                }
            }
            return Collections.unmodifiableMap(parts);
        }
    }

    /**
     * @param unknown answers all other paths
     * @param notAllowed answers other methods of a path, with 405; {@code Allow} has been set
     */
    public RouteTable(List<Route> routes, HttpCall.Handler unknown, HttpCall.Handler notAllowed) {
        this.unknown = unknown;
        this.notAllowed = notAllowed;
        routes.forEach(this::add);
    }

    private void add(Route route) {
        Map<HttpMethod, HttpCall.Handler> handlers = paths.computeIfAbsent(
                        route.template, template -> new Path(segments(template), new HashMap<>()))
                .handlers;
        if (handlers.put(route.method, route.handler) != null) {
            throw new IllegalArgumentException("route: %s %s (expected: once)".formatted(route.method, route.template));
        }
        if (route.method.equals(HttpMethod.GET)) {
            handlers.put(HttpMethod.HEAD, route.handler);
        }
    }

    @Override
    public Mono<Void> handle(ServerWebExchange exchange) {
        List<String> path = decoded(exchange);
        Set<String> allowed = new TreeSet<>();
        for (Path each : paths.values()) {
            Map<String, String> parts = path == null ? null : each.match(path);
            if (parts != null) {
                HttpCall.Handler handler =
                        each.handlers.get(exchange.getRequest().getMethod());
                if (handler != null) {
                    return handler.handle(new HttpCall(exchange, parts));
                }
                each.handlers.keySet().forEach(method -> allowed.add(method.name()));
            }
        }
        HttpCall call = new HttpCall(exchange, Map.of());
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
