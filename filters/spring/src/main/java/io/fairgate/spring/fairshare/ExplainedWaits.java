package io.fairgate.spring.fairshare;

import io.fairgate.spring.exchange.Exchanges;
import io.fairgate.spring.refusal.DecisionLog;
import java.time.Duration;
import org.springframework.web.server.ServerWebExchange;

/**
 * Which waits that were granted an operator can look up: long ones, and those of requests that ask for it. The client gets an id and nothing
 * else. The records are kept beside the refusals, where each tenant has its own part of the memory.
 *
 * @param longerThan the shortest wait that is kept without being asked for; zero for none
 */
record ExplainedWaits(Duration longerThan) {

    private static final String ASK = "Fairgate-Explain";
    private static final String DECISION = "Fairgate-Decision";

    /** Gives the wait an id, which the response names, if it is to be explained. */
    void mark(ServerWebExchange exchange, long waitedNanos) {
        boolean isLong = !longerThan.isZero() && waitedNanos >= longerThan.toNanos();
        if (isLong || "1".equals(exchange.getRequest().getHeaders().getFirst(ASK))) {
            String id = DecisionLog.newId();
            Exchanges.setWaitId(exchange, id);
            Exchanges.noteFields(exchange, headers -> headers.set(DECISION, id));
        }
    }
}
