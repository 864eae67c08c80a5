package io.fairgate.spring;

import java.util.regex.Pattern;
import org.springframework.cloud.gateway.filter.GatewayFilterChain;
import org.springframework.cloud.gateway.filter.GlobalFilter;
import org.springframework.core.Ordered;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/**
 * Refuses a path that servers read in different ways: with {@code .} or {@code ..}, with two slashes in a row, or with an
 * encoded slash. A route is chosen by the path as it came; with another reading than the upstream's, whoever writes the
 * path would choose which pool, cost and quotas it meets.
 *
 * <p>What else can be written in two ways does no harm: {@code %66ive} is decoded and {@code five;a=b} is stripped before a
 * route is chosen.
 */
final class AmbiguousPaths implements GlobalFilter, Ordered {

    /** Also within parameters and after an encoded semicolon, because to some servers {@code ..;x} is {@code ..}. */
    private static final Pattern AMBIGUOUS =
            Pattern.compile("//|\\\\|%2f|%5c|(^|/)(\\.|%2e){1,2}(/|;|%3b|$)", Pattern.CASE_INSENSITIVE);

    private final LivePolicy policy;
    private final Decisions decisions;
    private final FairgateMeters meters;
    private final boolean mayPass;

    AmbiguousPaths(LivePolicy policy, Decisions decisions, FairgateMeters meters, boolean mayPass) {
        this.policy = policy;
        this.decisions = decisions;
        this.meters = meters;
        this.mayPass = mayPass;
    }

    @Override
    public int getOrder() {
        return FilterOrder.PATH.order();
    }

    @Override
    public Mono<Void> filter(ServerWebExchange exchange, GatewayFilterChain chain) {
        return Mono.defer(() -> {
            if (mayPass || !isAmbiguous(exchange.getRequest().getURI().getRawPath())) {
                return chain.filter(exchange);
            }
            boolean enforced = policy.current().enforcement().isOn();
            meters.pathRefused(enforced);
            if (enforced) {
                return Mono.error(new AmbiguousPathException());
            }
            decisions.onTrial(exchange, new AmbiguousPathException());
            return chain.filter(exchange);
        });
    }

    static boolean isAmbiguous(String rawPath) {
        return AMBIGUOUS.matcher(rawPath).find();
    }
}
