package io.fairgate.spring.actuator;

import io.fairgate.spring.refusal.DecisionLog;
import io.fairgate.spring.refusal.DecisionLog.Decision;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;

/** {@code /actuator/decisions}: the latest refusals; {@code /actuator/decisions/ID}: the one a client reports. */
@Endpoint(id = "decisions")
public record DecisionsEndpoint(DecisionLog decisions) {

    private static final int LATEST = 100;

    @ReadOperation
    public List<Decision> latest() {
        return decisions.latest(LATEST);
    }

    /** The decision; null, which is answered with 404, when it is not kept. */
    @ReadOperation
    public @Nullable Decision decision(@Selector String id) {
        return decisions.get(id);
    }
}
