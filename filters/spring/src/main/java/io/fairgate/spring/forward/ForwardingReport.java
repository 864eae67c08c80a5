package io.fairgate.spring.forward;

import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.cloud.gateway.event.RefreshRoutesResultEvent;
import org.springframework.cloud.gateway.route.RouteLocator;
import org.springframework.context.event.EventListener;
import org.springframework.http.server.reactive.HttpHandler;

/**
 * Logs which routes are not forwarded directly, and why: when the application has started, and when a change of the
 * routes changes that.
 */
final class ForwardingReport {

    private static final Logger log = LoggerFactory.getLogger(ForwardingReport.class);

    private final RouteLocator locator;
    private final DirectRoutes routes;
    private final ObjectProvider<HttpHandler> handlers;
    private volatile boolean isReady;
    private volatile Map<String, String> reported = Map.of();

    ForwardingReport(RouteLocator locator, DirectRoutes routes, ObjectProvider<HttpHandler> handlers) {
        this.locator = locator;
        this.routes = routes;
        this.handlers = handlers;
    }

    @EventListener(ApplicationReadyEvent.class)
    void started() {
        isReady = true;
        reportHandling();
        report();
    }

    @EventListener(RefreshRoutesResultEvent.class)
    void changed(RefreshRoutesResultEvent event) {
        if (isReady && event.isSuccess()) {
            report();
        }
    }

    private void reportHandling() {
        HttpHandler handler = handlers.getIfUnique();
        String why = handler instanceof EarlyHandler early ? early.whyNot() : "of " + handler;
        if (why != null) {
            log.info(
                    "Requests go through Spring's handling first, because {}; a refusal costs twice as much there",
                    why);
        }
    }

    private void report() {
        var unused = locator.getRoutes()
                .collect(TreeMap<String, String>::new, (found, route) -> {
                    String why = routes.whyNot(route);
                    if (why != null) {
                        found.put(route.getId(), why);
                    }
                })
                .subscribe(this::report, failure -> {});
    }

    private void report(Map<String, String> found) {
        if (!found.equals(reported)) {
            reported = found;
            log.info(
                    "Routes that pass all filters of Spring Cloud Gateway, which costs more than to forward directly: {}",
                    found.isEmpty()
                            ? "none"
                            : found.entrySet().stream()
                                    .map(each -> each.getKey() + " (" + each.getValue() + ")")
                                    .collect(Collectors.joining(", ")));
        }
    }
}
