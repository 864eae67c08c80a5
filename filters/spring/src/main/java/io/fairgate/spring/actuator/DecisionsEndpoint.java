package io.fairgate.spring.actuator;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import io.fairgate.spring.explain.Explanation;
import io.fairgate.spring.explain.Explanations;
import io.fairgate.spring.refusal.DecisionLog;
import io.fairgate.spring.refusal.DecisionLog.Decision;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import reactor.core.publisher.Mono;

/** {@code /actuator/decisions}: the latest refusals; {@code /actuator/decisions/ID}: the one a client reports, with its explanation. */
@Endpoint(id = "decisions")
public record DecisionsEndpoint(DecisionLog decisions, Explanations explanations) {

    private static final int LATEST = 100;

    /**
     * A decision and its explanation, as one object of JSON.
     *
     * @param meanwhile the pool while the request waited; null when its route has none, or that is not kept any more
     */
    public record Explained(
            @JsonUnwrapped Decision decision, @Nullable Explanation meanwhile) {}

    /** The latest ones of which the tenant (or the id that it claimed), the reason and the route contain these texts; null for all. */
    @ReadOperation
    public List<Decision> latest(@Nullable String tenant, @Nullable String reason, @Nullable String route) {
        return decisions.latest(
                LATEST,
                decision -> contains(decision.tenant() == null ? decision.claimed() : decision.tenant(), tenant)
                        && contains(decision.reason(), reason)
                        && contains(decision.route(), route));
    }

    private static boolean contains(@Nullable String text, @Nullable String part) {
        return part == null || part.isEmpty() || (text != null && text.contains(part));
    }

    /** The decision; empty, which is answered with 404, when it is not kept. */
    @ReadOperation
    public Mono<Explained> decision(@Selector String id) {
        return Mono.justOrEmpty(decisions.get(id))
                .flatMap(decision -> explanations
                        .of(decision)
                        .map(meanwhile -> new Explained(decision, meanwhile))
                        .defaultIfEmpty(new Explained(decision, null)));
    }
}
