package io.fairgate.gateway.start;

import io.fairgate.gateway.http.HttpProblem;
import java.net.URI;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import reactor.core.publisher.Mono;

/**
 * Keeps the pages of an operator's browser away from the management port, which has no password. A page can give its own name
 * the address of this port (DNS rebinding), and then read all; or it can send a form to it.
 *
 * <p>So {@code Host} must be an IP address, {@code localhost}, a name without a dot, or a configured name; others get 421, except
 * at the probes. Names without a dot are given by the local network, not by the public DNS: so a scrape of {@code
 * http://gateway:8081} needs no setting. Requests that may change something must not come from a page of another origin; they get
 * 403.
 */
final class ManagementRequests implements WebFilter {

    private static final Pattern PORT = Pattern.compile(":\\d*$");
    private static final Pattern ADDRESS = Pattern.compile("\\[[0-9a-f:.]+]|[0-9]+(\\.[0-9]+){3}");
    private static final List<HttpMethod> READING = List.of(HttpMethod.GET, HttpMethod.HEAD, HttpMethod.OPTIONS);
    private static final List<String> OF_THE_USER = List.of("same-origin", "none");

    private final List<String> hosts;

    ManagementRequests(ManagementSettings settings) {
        hosts = settings.hosts();
    }

    @Override
    public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
        HttpProblem problem = problem(exchange.getRequest());
        return problem == null ? chain.filter(exchange) : problem.answer(exchange);
    }

    private @Nullable HttpProblem problem(ServerHttpRequest request) {
        List<String> values = request.getHeaders().getOrEmpty(HttpHeaders.HOST);
        if (values.size() > 1) {
            return HttpProblem.badRequest("Host", values.size() + " fields", "one");
        } else if (values.isEmpty()) {
            return null; // A browser always sends it; load balancers that check health with HTTP/1.0 may not.
        }
        String host = values.get(0).toLowerCase(Locale.ROOT);
        String name = PORT.matcher(host).replaceFirst("");
        if (!isAllowed(name) && !isProbe(request)) {
            return new HttpProblem(
                    421,
                    "host",
                    "Host: %s (expected: localhost, an IP address, a name without a dot, or a name in %s.hosts)"
                            .formatted(name, ManagementSettings.PREFIX));
        }
        if (!READING.contains(request.getMethod()) && isOfAnotherPage(request.getHeaders(), host)) {
            return new HttpProblem(403, "cross-origin", "the request comes from a page of another origin");
        }
        return null;
    }

    /** Load balancers may ask for any name. These pages say no more than whether the gateway is up. */
    private static boolean isProbe(ServerHttpRequest request) {
        String path = request.getPath().value();
        return READING.contains(request.getMethod())
                && (path.endsWith("/health/liveness") || path.endsWith("/health/readiness"));
    }

    private boolean isAllowed(String name) {
        return name.indexOf('.') < 0
                || ADDRESS.matcher(name).matches()
                || name.endsWith(".localhost")
                || hosts.contains(name)
                || hosts.contains("*");
    }

    /**
     * Browsers send both fields; programs send none of them. The first one decides, because a proxy before this port may have
     * changed the host.
     */
    private static boolean isOfAnotherPage(HttpHeaders headers, String host) {
        String site = headers.getFirst("Sec-Fetch-Site");
        String origin = headers.getFirst(HttpHeaders.ORIGIN);
        return site != null ? !OF_THE_USER.contains(site) : origin != null && !host.equals(authority(origin));
    }

    /** Null if the origin has none, as that of a local file. */
    private static @Nullable String authority(String origin) {
        try {
            return URI.create(origin.toLowerCase(Locale.ROOT)).getRawAuthority();
        } catch (IllegalArgumentException e) {
            return null;
        }
    }
}
