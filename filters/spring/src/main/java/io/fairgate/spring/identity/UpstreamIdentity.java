package io.fairgate.spring.identity;

import io.fairgate.spring.exchange.HeaderAlias;

import io.fairgate.policy.Identification;
import io.fairgate.policy.IdentitySource;
import java.util.List;
import org.springframework.cloud.gateway.filter.headers.HttpHeadersFilter;
import org.springframework.core.Ordered;
import org.springframework.http.HttpHeaders;
import org.springframework.web.server.ServerWebExchange;

/**
 * Tells the upstream whose request it is, in exactly one header that only the gateway can have written, and lets nothing
 * pass that looks like it, on the way there and back.
 *
 * <p>The last of all filters of headers: after it nobody takes anything away, so that {@code Connection: X-Tenant-Id}
 * removes what the client sent and not what we say.
 */
final class UpstreamIdentity implements HttpHeadersFilter, Ordered {

    /** Names that are the gateway's own, and those that Reactor Netty makes of an HTTP/2 frame. */
    private static final List<String> OWN_PREFIXES = List.of("x-http2-", "x-fairgate-", "x-permit-");

    private static final String FENCING_TOKEN = "x-fencing-token";

    /** Of an upgrade to HTTP/2, which is not passed on; a client may have left it out of {@code Connection}. */
    private static final String HTTP2_SETTINGS = "http2-settings";

    private final Type type;

    /** @param type the way that it looks at; each has a filter of its own, because a filter is not told which it is on */
    UpstreamIdentity(Type type) {
        this.type = type;
    }

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
            if (!isOwn(name) && (known == null || !namesTenant(name, known.by()))) {
                headers.addAll(name, values);
            }
        });
        String forwardAs = known == null ? null : known.by().forwardAs();
        if (type == Type.REQUEST && known != null && forwardAs != null) {
            headers.set(forwardAs, known.named().value());
        }
        return headers;
    }

    private static boolean isOwn(String name) {
        for (String prefix : OWN_PREFIXES) {
            if (HeaderAlias.startsWith(name, prefix)) {
                return true;
            }
        }
        return HeaderAlias.isSame(name, FENCING_TOKEN) || HeaderAlias.isSame(name, HTTP2_SETTINGS);
    }

    private static boolean namesTenant(String name, Identification by) {
        if (by.forwardAs() != null && HeaderAlias.isSame(name, by.forwardAs())) {
            return true;
        }
        for (IdentitySource source : by.sources()) {
            if (source instanceof IdentitySource.Header plain && HeaderAlias.isSame(name, plain.name())) {
                return true;
            }
        }
        return false;
    }
}
