package io.fairgate.spring.quota;

import io.fairgate.spring.exchange.Exchanges;
import io.fairgate.spring.exchange.WholeNumber;
import io.fairgate.spring.exchange.HeaderAlias;

import static io.fairgate.spring.quota.CostGatewayFilterFactory.mistake;

import io.fairgate.policy.Cidr;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.web.server.ServerWebExchange;

/**
 * The header by which those who may say what their request takes.
 *
 * @param trustedFrom the networks of the peers that may
 * @param max units, the most that they can say
 */
record ToldCost(String header, List<Cidr> trustedFrom, long max) {

    /** @throws IllegalArgumentException when one of the two is there without the other, or is no network */
    static @Nullable ToldCost of(@Nullable String header, @Nullable String trustedFrom, long max) {
        if (header == null && trustedFrom == null) {
            return null;
        } else if (header == null) {
            throw mistake("trustedFrom", trustedFrom, "nothing, because there is no header");
        } else if (trustedFrom == null) {
            throw mistake("trustedFrom", null, "the networks whose peers may send the header");
        }
        List<Cidr> networks = new ArrayList<>();
        for (String network : trustedFrom.split(",", -1)) {
            networks.add(Cidr.parse(network.strip()));
        }
        return new ToldCost(header, List.copyOf(networks), max);
    }

    /** Null when the header holds no number, or comes from somebody else. */
    @Nullable
    Long units(ServerWebExchange exchange) {
        Long number = WholeNumber.largest(exchange.getRequest().getHeaders().getOrDefault(header, List.of()));
        InetAddress peer = Exchanges.peer(exchange);
        boolean trusted = peer != null && trustedFrom.stream().anyMatch(network -> network.contains(peer));
        return number == null || !trusted ? null : (Long) Math.min(max, number);
    }

    /** The upstream does not see the header, whoever sent it and however it is written. */
    ServerWebExchange without(ServerWebExchange exchange) {
        HttpHeaders sent = exchange.getRequest().getHeaders();
        List<String> names = sent.headerNames().stream()
                .filter(name -> HeaderAlias.isSame(name, header))
                .toList();
        return names.isEmpty()
                ? exchange
                : exchange.mutate()
                        .request(request -> request.headers(headers -> names.forEach(headers::remove)))
                        .build();
    }
}
