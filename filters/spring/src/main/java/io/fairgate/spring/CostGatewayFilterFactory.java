package io.fairgate.spring;

import io.fairgate.policy.Cidr;
import io.fairgate.quota.Quota;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.cloud.gateway.filter.GatewayFilter;
import org.springframework.cloud.gateway.filter.OrderedGatewayFilter;
import org.springframework.cloud.gateway.filter.factory.AbstractGatewayFilterFactory;
import org.springframework.http.server.PathContainer;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.util.unit.DataSize;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.util.pattern.PathPattern;
import org.springframework.web.util.pattern.PathPatternParser;

/**
 * {@code Cost=5}: what a request of this route takes of its quotas, in units; 1 on routes that do not say.
 *
 * <p>Arguments, all but the first in the long form only: {@code units}; {@code rules}, other units by method and path,
 * such as {@code GET /reports/** = 10, * /search = 3}, of which the first that fits counts (HEAD counts as GET, unless
 * a rule for it comes first); {@code header} and
 * {@code trustedFrom}, a request header with a number that counts before all these when such a peer sends it, and is
 * ignored otherwise (in no case does the upstream see it); {@code response}, {@code bytes} or {@code header:NAME}, for
 * what is known only then: what is charged before is an estimate, and corrected at the end; {@code per}, the bytes of a
 * unit (1KB by default); and {@code max}, the most that a header or a response may make of a request.
 */
public final class CostGatewayFilterFactory extends AbstractGatewayFilterFactory<CostGatewayFilterFactory.Config> {

    private static final Pattern RULE = Pattern.compile("([A-Z]+|\\*) +(/\\S*) *= *([0-9]{1,12})");
    private static final String FIELD = "header:";

    private record Rule(String method, PathPattern path, long units) {
        boolean fits(ServerHttpRequest request, PathContainer asked) {
            String name = request.getMethod().name();
            // HEAD asks for the work of GET, and for none of what comes of it.
            boolean isMeant =
                    method.equals("*") || method.equals(name) || (method.equals("GET") && name.equals("HEAD"));
            return isMeant && path.matches(asked);
        }
    }

    /** The header by which those who may say what their request takes. */
    private record Told(String header, List<Cidr> trustedFrom, long max) {}

    CostGatewayFilterFactory() {
        super(Config.class);
    }

    @Override
    public String name() {
        return "Cost";
    }

    @Override
    public List<String> shortcutFieldOrder() {
        return List.of("units");
    }

    /** @throws IllegalArgumentException naming the argument that has no meaning, or none beside the others */
    @Override
    public GatewayFilter apply(Config config) {
        if (config.units < 0 || config.units > Quota.MAX_LIMIT) {
            throw mistake("units", config.units, "0 to " + Quota.MAX_LIMIT);
        }
        ResponseCost response = response(config);
        Told told = told(config);
        if (config.max != null && response == null && told == null) {
            throw mistake("max", config.max, "nothing, because neither a header nor a response tells the cost");
        }
        List<Rule> rules = rules(config.rules);
        return new OrderedGatewayFilter(
                (exchange, chain) -> {
                    Long asTold = told == null ? null : told(exchange, told);
                    long units = asTold == null ? units(exchange, rules, config.units) : asTold;
                    Exchanges.setCost(exchange, new RequestCost(units, response));
                    return chain.filter(told == null ? exchange : without(exchange, told.header));
                },
                FilterOrder.COST.order());
    }

    private static @Nullable Long told(ServerWebExchange exchange, Told told) {
        Long number = ResponseCost.number(exchange.getRequest().getHeaders().getOrDefault(told.header, List.of()));
        InetAddress peer = Exchanges.peer(exchange);
        boolean trusted = peer != null && told.trustedFrom.stream().anyMatch(network -> network.contains(peer));
        return number == null || !trusted ? null : (Long) Math.min(told.max, number);
    }

    private static long units(ServerWebExchange exchange, List<Rule> rules, long otherwise) {
        ServerHttpRequest request = exchange.getRequest();
        PathContainer path = request.getPath().pathWithinApplication();
        for (Rule rule : rules) {
            if (rule.fits(request, path)) {
                return rule.units;
            }
        }
        return otherwise;
    }

    private static ServerWebExchange without(ServerWebExchange exchange, String header) {
        return exchange.mutate()
                .request(request -> request.headers(headers -> headers.remove(header)))
                .build();
    }

    private static @Nullable ResponseCost response(Config config) {
        String text = config.response;
        boolean bytes = "bytes".equals(text);
        if (config.per != null && !bytes) {
            throw mistake("per", config.per, "nothing, because only response: bytes has one");
        }
        long max = max(config);
        if (text == null) {
            return null;
        } else if (bytes) {
            long perUnit = config.per == null ? 1024 : config.per.toBytes();
            if (perUnit < 1) {
                throw mistake("per", config.per, "at least 1B");
            }
            return new ResponseCost.Bytes(perUnit, max);
        } else if (text.startsWith(FIELD) && text.length() > FIELD.length()) {
            return new ResponseCost.Field(text.substring(FIELD.length()).strip(), max);
        }
        throw mistake("response", text, "bytes, or header: and the name of a header");
    }

    private static @Nullable Told told(Config config) {
        if ((config.header == null) != (config.trustedFrom == null)) {
            throw config.header == null
                    ? mistake("trustedFrom", config.trustedFrom, "nothing, because there is no header")
                    : mistake("trustedFrom", null, "the networks whose peers may send the header");
        }
        if (config.header == null || config.trustedFrom == null) {
            return null;
        }
        List<Cidr> networks = new ArrayList<>();
        for (String network : config.trustedFrom.split(",", -1)) {
            networks.add(Cidr.parse(network.strip()));
        }
        return new Told(config.header, List.copyOf(networks), max(config));
    }

    private static long max(Config config) {
        long max = config.max == null ? Quota.MAX_LIMIT : config.max;
        if (max < 1 || max > Quota.MAX_LIMIT) {
            throw mistake("max", max, "1 to " + Quota.MAX_LIMIT);
        }
        return max;
    }

    private static List<Rule> rules(@Nullable String text) {
        List<Rule> rules = new ArrayList<>();
        for (String each : text == null ? new String[0] : text.split(",", -1)) {
            Matcher rule = RULE.matcher(each.strip());
            if (!rule.matches()) {
                throw mistake("rules", each.strip(), "such as GET /reports/** = 10, with * for any method");
            }
            rules.add(new Rule(
                    rule.group(1),
                    PathPatternParser.defaultInstance.parse(rule.group(2)),
                    Long.parseLong(rule.group(3))));
        }
        return List.copyOf(rules);
    }

    private static IllegalArgumentException mistake(String argument, @Nullable Object found, String expected) {
        return new IllegalArgumentException(
                "Cost: %s: %s (expected: %s)".formatted(argument, found == null ? "nothing" : found, expected));
    }

    /** What a route says: a bean with setters, because that is what Spring Cloud Gateway binds arguments to. */
    public static final class Config {
        private long units = 1;
        private @Nullable String rules;
        private @Nullable String header;
        private @Nullable String trustedFrom;
        private @Nullable String response;
        private @Nullable DataSize per;
        private @Nullable Long max;

        public Config setUnits(long units) {
            this.units = units;
            return this;
        }

        public Config setRules(String rules) {
            this.rules = rules;
            return this;
        }

        public Config setHeader(String header) {
            this.header = header;
            return this;
        }

        public Config setTrustedFrom(String trustedFrom) {
            this.trustedFrom = trustedFrom;
            return this;
        }

        public Config setResponse(String response) {
            this.response = response;
            return this;
        }

        public Config setPer(DataSize per) {
            this.per = per;
            return this;
        }

        public Config setMax(long max) {
            this.max = max;
            return this;
        }
    }
}
