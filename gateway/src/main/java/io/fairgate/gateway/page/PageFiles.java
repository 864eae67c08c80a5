package io.fairgate.gateway.page;

import io.fairgate.gateway.http.Bytes;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.springframework.core.io.ClassPathResource;
import org.springframework.http.CacheControl;
import org.springframework.http.MediaType;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.reactive.function.server.ServerResponse;
import org.springframework.web.util.HtmlUtils;

/** The files of the page, and the header fields that keep a browser from loading anything else. */
final class PageFiles {

    private static final String POLICY =
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self';"
                    + " base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

    private static final MediaType HTML = MediaType.parseMediaType("text/html;charset=UTF-8");
    private static final MediaType CSS = MediaType.parseMediaType("text/css;charset=UTF-8");
    private static final MediaType SCRIPT = MediaType.parseMediaType("text/javascript;charset=UTF-8");
    private static final MediaType IMAGE = MediaType.parseMediaType("image/svg+xml");

    private static final Map<String, MediaType> FILES = Map.of(
            "page.css", CSS,
            "icon.svg", IMAGE);

    private static final List<String> SCRIPTS = List.of(
            "page.js",
            "dom.js",
            "endpoints.js",
            "format.js",
            "rows.js",
            "pools.js",
            "quotas.js",
            "decisions.js",
            "what-if.js",
            "leases.js",
            "cluster.js");

    private final String page;

    /** @param actuator the path of the endpoints, below the same base path as the page */
    PageFiles(String version, String actuator) {
        page = new String(Bytes.beside(PageFiles.class, "page.html"), StandardCharsets.UTF_8)
                .replace("VERSION", HtmlUtils.htmlEscape(version))
                .replace("ACTUATOR", HtmlUtils.htmlEscape(actuator.replaceFirst("^/", "")));
    }

    RouterFunction<ServerResponse> routes() {
        RouterFunctions.Builder routes = RouterFunctions.route()
                .GET(
                        "/",
                        request ->
                                secured(ServerResponse.ok()).contentType(HTML).bodyValue(page));
        FILES.forEach((name, type) -> add(routes, name, type));
        SCRIPTS.forEach(name -> add(routes, name, SCRIPT));
        return routes.build();
    }

    private static void add(RouterFunctions.Builder routes, String name, MediaType type) {
        routes.GET(
                "/page/" + name,
                request -> secured(ServerResponse.ok())
                        .contentType(type)
                        .bodyValue(new ClassPathResource(name, PageFiles.class)));
    }

    /** A new version of the program has new files, so none is kept without asking. */
    static ServerResponse.BodyBuilder secured(ServerResponse.BodyBuilder response) {
        return response.cacheControl(CacheControl.noCache())
                .header("Content-Security-Policy", POLICY)
                .header("X-Content-Type-Options", "nosniff")
                .header("Referrer-Policy", "no-referrer")
                .header("Cross-Origin-Resource-Policy", "same-origin");
    }
}
