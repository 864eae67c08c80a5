package io.fairgate.spring;

import org.springframework.web.server.ServerWebExchange;

/** Notes requests that are nobody's while the policy is on trial: each once, whoever comes across it. */
final class Strangers {

    private static final String NOTED = Strangers.class.getName() + ".noted";

    private final Decisions decisions;
    private final FairgateMeters meters;

    Strangers(Decisions decisions, FairgateMeters meters) {
        this.decisions = decisions;
        this.meters = meters;
    }

    void wouldBeRefused(ServerWebExchange exchange, IdentityRefusedException why) {
        if (exchange.getAttributes().putIfAbsent(NOTED, true) == null) {
            meters.identityRefused(why.reason(), false);
            decisions.onTrial(exchange, why);
        }
    }
}
