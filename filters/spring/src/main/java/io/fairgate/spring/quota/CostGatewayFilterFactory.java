package io.fairgate.spring.quota;

import io.fairgate.quota.Quota;
import io.fairgate.spring.exchange.RouteRules.RuleFilter;
import io.fairgate.spring.policy.PolicyHolder;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.cloud.gateway.filter.GatewayFilter;
import org.springframework.cloud.gateway.filter.factory.AbstractGatewayFilterFactory;
import org.springframework.util.unit.DataSize;

/**
 * {@code Cost=5}: what a request of this route takes of its quotas, in units; 1 on routes without this filter.
 *
 * <p>Arguments, all but the first in the long form only:
 *
 * <ul>
 *   <li>{@code units}: the units of a request that no rule fits.
 *   <li>{@code rules}: other units by method and path, such as {@code GET /reports/** = 10, * /search = 3}. The first
 *       rule that fits counts (HEAD counts as GET, unless a rule for HEAD comes first). When the path can be read in
 *       several ways, the most expensive reading counts.
 *   <li>{@code header} and {@code trusted-from}: a request header with a number that takes precedence over all these
 *       when a trusted client sends it, and is ignored otherwise. The upstream never sees it.
 *   <li>{@code response}: {@code bytes} or {@code header:NAME}, when only the response shows the cost. The charge
 *       before is then an estimate, which is corrected at the end.
 *   <li>{@code per}: the bytes of a unit (1KB by default); a response takes at least one unit.
 *   <li>{@code max}: the most units that a header or a response can make of a request.
 * </ul>
 */
public final class CostGatewayFilterFactory extends AbstractGatewayFilterFactory<CostGatewayFilterFactory.Config> {

    private static final String FIELD = "header:";

    private final PolicyHolder policy;

    CostGatewayFilterFactory(PolicyHolder policy) {
        super(Config.class);
        this.policy = policy;
    }

    @Override
    public String name() {
        return "Cost";
    }

    @Override
    public List<String> shortcutFieldOrder() {
        return List.of("units");
    }

    /** @throws IllegalArgumentException naming the argument that is not valid, by itself or beside the others */
    @Override
    public GatewayFilter apply(Config config) {
        if (config.units < 0 || config.units > Quota.MAX_LIMIT) {
            throw mistake("units", config.units, "0 to " + Quota.MAX_LIMIT);
        }
        long max = config.max == null ? Quota.MAX_LIMIT : config.max;
        if (max < 1 || max > Quota.MAX_LIMIT) {
            throw mistake("max", max, "1 to " + Quota.MAX_LIMIT);
        }
        ResponseCost response = response(config, max);
        CostHeader header = CostHeader.of(config.header, config.trustedFrom, max, policy);
        if (config.max != null && response == null && header == null) {
            throw mistake("max", config.max, "no max, because neither a header nor a response gives the cost");
        }
        return new RuleFilter(new CostRule(new CostRules(config.rules, config.units), header, response));
    }

    private static @Nullable ResponseCost response(Config config, long max) {
        String text = config.response;
        boolean bytes = "bytes".equals(text);
        if (config.per != null && !bytes) {
            throw mistake("per", config.per, "no per, because only response: bytes uses it");
        } else if (text == null) {
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

    static IllegalArgumentException mistake(String argument, @Nullable Object found, String expected) {
        return new IllegalArgumentException(
                "Cost: %s: %s (expected: %s)".formatted(argument, found == null ? "nothing" : found, expected));
    }

    /** The arguments of the filter: a bean with setters, because Spring Cloud Gateway binds arguments to one. */
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
