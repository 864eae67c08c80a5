package io.fairgate.spring.identity;

import io.fairgate.spring.exchange.HeaderVariants;
import io.fairgate.spring.proxy.ForwardedFields;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.cloud.gateway.filter.headers.HttpHeadersFilter;
import org.springframework.core.Ordered;
import org.springframework.http.HttpHeaders;
import org.springframework.web.server.ServerWebExchange;

/**
 * Names the tenant to the upstream in one header that only the gateway can have written, if {@code forward-as} names
 * one, and removes headers that look like it, or like the gateway's own, from requests and from responses. A request
 * without a valid tenant, which passes in a dry run only, keeps its tenant headers. Of requests it sets the {@link ForwardedFields} as well.
 *
 * <p>It is the last of all filters of headers. No later filter removes headers, so {@code Connection: X-Tenant-Id}
 * removes the header of the client and not the one of the gateway. {@code X-Forwarded-…} headers that are not set here have been removed
 * by a filter before this one, and are taken from the request again: clients cannot have written them ({@link ForwardedFields#strip}).
 *
 * @param type requests or responses; a filter cannot see which of them it handles, so each has its own
 * @param forwarded for requests
 */
public record UpstreamIdentity(Type type, ForwardedFields forwarded) implements HttpHeadersFilter, Ordered {

    /** Prefixes of the gateway's own headers, and of those that Reactor Netty derives from HTTP/2 frames. */
    private static final List<String> OWN_PREFIXES = List.of("x-http2-", "x-fairgate-", "x-permit-");

    private static final String FENCING_TOKEN = "x-fencing-token";

    /** Belongs to an upgrade to HTTP/2, and is not forwarded, also when {@code Connection} does not name it. */
    private static final String HTTP2_SETTINGS = "http2-settings";

    @Override
    public int getOrder() {
        return Ordered.LOWEST_PRECEDENCE;
    }

    @Override
    public boolean supports(Type type) {
        return type == this.type;
    }

    @Override
    public HttpHeaders filter(HttpHeaders input, ServerWebExchange exchange) {
        Identity.Known known = Identity.of(exchange) instanceof Identity.Known found ? found : null;
        HttpHeaders headers = new HttpHeaders();
        input.forEach((name, values) -> {
            if (!isRemoved(name, known)) {
                headers.addAll(name, values);
            }
        });
        String forwardAs = known == null ? null : known.by().forwardAs();
        if (type == Type.REQUEST && forwarded.areSet()) {
            setForwarded(headers, exchange, known);
        }
        if (type == Type.REQUEST && known != null && forwardAs != null) {
            headers.set(forwardAs, known.named().value());
        }
        return headers;
    }

    private void setForwarded(HttpHeaders headers, ServerWebExchange exchange, Identity.@Nullable Known known) {
        List.copyOf(headers.headerNames()).stream()
                .filter(ForwardedFields::isSet)
                .forEach(headers::remove);
        exchange.getRequest().getHeaders().forEach((name, values) -> {
            if (ForwardedFields.isOther(name) && !isRemoved(name, known)) {
                headers.put(name, values);
            }
        });
        forwarded.set(exchange, (name, value) -> headers.set(name.toString(), value));
    }

    /**
     * Whether a header is removed.
     *
     * @param known the tenant of the request; null without a valid one
     */
    public static boolean isRemoved(CharSequence name, Identity.@Nullable Known known) {
        return isOwn(name) || (known != null && known.by().isTenantHeader(name));
    }

    private static boolean isOwn(CharSequence name) {
        for (int i = 0; i < OWN_PREFIXES.size(); i++) {
            if (HeaderVariants.startsWith(name, OWN_PREFIXES.get(i))) {
                return true;
            }
        }
        return HeaderVariants.isSame(name, FENCING_TOKEN) || HeaderVariants.isSame(name, HTTP2_SETTINGS);
    }
}
