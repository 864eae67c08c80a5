package io.fairgate.spring.quota;

import static io.fairgate.spring.quota.CostGatewayFilterFactory.mistake;

import io.fairgate.policy.Cidr;
import io.fairgate.spring.exchange.HeaderVariants;
import io.fairgate.spring.exchange.WholeNumber;
import io.fairgate.spring.policy.PolicyHolder;
import io.fairgate.spring.proxy.OriginalRequests;
import java.net.InetAddress;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.web.server.ServerWebExchange;

/**
 * The header with which clients in {@code trustedFrom} give the cost of a request.
 *
 * @param max units, the most that they can give
 */
record CostHeader(String header, List<Cidr> trustedFrom, long max, PolicyHolder policy) {

    /** @throws IllegalArgumentException when only one of them is given, or a network is malformed */
    static @Nullable CostHeader of(
            @Nullable String header, @Nullable String trustedFrom, long max, PolicyHolder policy) {
        if (header == null && trustedFrom == null) {
            return null;
        } else if (header == null) {
            throw mistake("trusted-from", trustedFrom, "nothing, because there is no header");
        } else if (trustedFrom == null) {
            throw mistake("trusted-from", null, "the networks whose clients may send the header");
        }
        Stream<String> networks = Arrays.stream(trustedFrom.split(",", -1));
        return new CostHeader(
                header, networks.map(each -> Cidr.parse(each.strip())).toList(), max, policy);
    }

    /** The units in the header; null when it holds no number or the client is not trusted. */
    @Nullable
    Long units(ServerWebExchange exchange) {
        Long number = WholeNumber.largest(exchange.getRequest().getHeaders().getOrDefault(header, List.of()));
        InetAddress client = OriginalRequests.of(exchange, policy).client();
        boolean trusted = client != null && trustedFrom.stream().anyMatch(network -> network.contains(client));
        return number == null || !trusted ? null : (Long) Math.min(max, number);
    }

    /** The request without the header, whichever client sent it and however its name is spelt. */
    ServerWebExchange without(ServerWebExchange exchange) {
        return HeaderVariants.without(exchange, name -> HeaderVariants.isSame(name, header), value -> true);
    }
}
