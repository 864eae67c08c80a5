package io.fairgate.spring.forward;

import io.fairgate.spring.identity.Identity;
import io.fairgate.spring.identity.UpstreamIdentity;
import io.fairgate.spring.proxy.ForwardedFields;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.util.AsciiString;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Map.Entry;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.web.server.ServerWebExchange;

/**
 * Copies the headers of requests to the upstream, and of responses to the client, in one pass each. It leaves out the
 * same headers as {@link UpstreamIdentity} and Spring Cloud Gateway's filters of headers with their default settings:
 * those that concern one connection (RFC 9110, 7.6.1), those that name a tenant, and those that {@link ForwardedFields} sets.
 */
final class UpstreamHeaders {

    private final List<AsciiString> ofConnection = new ArrayList<>();
    private final ForwardedFields forwarded;

    /** @param ofConnection names of headers that concern one connection, besides those that {@code Connection} names */
    UpstreamHeaders(Collection<String> ofConnection, ForwardedFields forwarded) {
        this.forwarded = forwarded;
        ofConnection.forEach(name -> this.ofConnection.add(AsciiString.cached(name)));
    }

    /** Copies the headers of a request, except {@code Host}, to those that the HTTP client has set. */
    void copyRequest(ServerWebExchange exchange, HttpHeaders to) {
        HttpHeaders from = headers(exchange.getRequest());
        Identity.Known known = known(exchange);
        List<String> named = named(from);
        boolean isChunked = from.contains(HttpHeaderNames.TRANSFER_ENCODING, HttpHeaderValues.CHUNKED, true);
        boolean ownAgent = true;
        boolean ownAccept = true;
        for (Iterator<Entry<CharSequence, CharSequence>> all = from.iteratorCharSequence(); all.hasNext(); ) {
            Entry<CharSequence, CharSequence> header = all.next();
            CharSequence name = header.getKey();
            if (HttpHeaderNames.HOST.contentEqualsIgnoreCase(name)
                    || ForwardedFields.isSet(name)
                    || (isOfConnection(name, named) && !ForwardedFields.isOther(name))
                    || (isChunked && HttpHeaderNames.CONTENT_LENGTH.contentEqualsIgnoreCase(name))
                    || UpstreamIdentity.isRemoved(name, known)) {
                continue;
            }
            if (ownAgent && HttpHeaderNames.USER_AGENT.contentEqualsIgnoreCase(name)) {
                ownAgent = false;
                to.remove(name);
            } else if (ownAccept && HttpHeaderNames.ACCEPT.contentEqualsIgnoreCase(name)) {
                ownAccept = false;
                to.remove(name);
            }
            to.add(name, header.getValue());
        }
        forwarded.set(exchange, to::set);
        String forwardAs = known == null ? null : known.by().forwardAs();
        if (known != null && forwardAs != null) {
            to.set(forwardAs, known.named().value());
        }
        removeChunkedIfLengthIsKnown(to);
    }

    /** Copies the headers of a response to those that the response of the client has already. */
    void copyResponse(ServerWebExchange exchange, HttpHeaders from, HttpHeaders to) {
        Identity.Known known = known(exchange);
        List<String> named = named(from);
        for (Iterator<Entry<CharSequence, CharSequence>> all = from.iteratorCharSequence(); all.hasNext(); ) {
            Entry<CharSequence, CharSequence> header = all.next();
            if (!isOfConnection(header.getKey(), named) && !UpstreamIdentity.isRemoved(header.getKey(), known)) {
                to.add(header.getKey(), header.getValue());
            }
        }
        removeChunkedIfLengthIsKnown(to);
    }

    /** Reactor Netty sets {@code Transfer-Encoding} before it knows whether there is a length. */
    private static void removeChunkedIfLengthIsKnown(HttpHeaders headers) {
        if (headers.contains(HttpHeaderNames.CONTENT_LENGTH)) {
            headers.remove(HttpHeaderNames.TRANSFER_ENCODING);
        }
    }

    private static HttpHeaders headers(ServerHttpRequest request) {
        HttpHeaders received = DirectRequest.headers(request);
        if (received != null) {
            return received;
        }
        HttpHeaders changed = new DefaultHttpHeaders();
        request.getHeaders().forEach(changed::add);
        return changed;
    }

    private static Identity.@Nullable Known known(ServerWebExchange exchange) {
        return Identity.of(exchange) instanceof Identity.Known known ? known : null;
    }

    /** The names that {@code Connection} lists. */
    private static List<String> named(HttpHeaders headers) {
        String first = headers.get(HttpHeaderNames.CONNECTION);
        if (first == null) {
            return List.of();
        }
        List<String> named = new ArrayList<>(1);
        for (String line : headers.getAll(HttpHeaderNames.CONNECTION)) {
            for (String name : line.split(",", -1)) {
                named.add(name.replace('"', ' ').strip()); // Some clients send quoted names.
            }
        }
        return named;
    }

    private boolean isOfConnection(CharSequence name, List<String> named) {
        for (int i = 0; i < ofConnection.size(); i++) {
            if (ofConnection.get(i).contentEqualsIgnoreCase(name)) {
                return true;
            }
        }
        for (int i = 0; i < named.size(); i++) {
            if (AsciiString.contentEqualsIgnoreCase(named.get(i), name)) {
                return true;
            }
        }
        return false;
    }
}
