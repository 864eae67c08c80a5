package io.fairgate.spring.pace;

import io.fairgate.policy.Policy;
import io.fairgate.spring.refusal.Refusal;
import io.fairgate.spring.refusal.RefusedException;
import java.util.List;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;

/** The client sends the body of its request too slowly. */
final class SlowBodyException extends RefusedException {

    private static final long serialVersionUID = 1L;

    /** The connection is closed: what is left of the body could be taken for a request. */
    private static final Refusal REFUSAL = new Refusal(
            HttpStatus.REQUEST_TIMEOUT,
            "slow-body",
            "The body of the request paused for too long, or came too slowly.",
            List.of(),
            null,
            headers -> headers.set(HttpHeaders.CONNECTION, "close"));

    SlowBodyException() {
        super(REFUSAL.reason());
    }

    @Override
    public Refusal refusal(Policy policy) {
        return REFUSAL;
    }
}
