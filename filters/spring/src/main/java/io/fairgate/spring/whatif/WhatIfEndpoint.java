package io.fairgate.spring.whatif;

import io.fairgate.config.PolicyReader;
import io.fairgate.config.model.InvalidPolicyException;
import io.fairgate.config.model.Mistake;
import io.fairgate.config.model.PolicyFile;
import io.fairgate.replay.Recording;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;

/**
 * {@code POST /actuator/whatif}: what a policy would have done to the requests of the latest minutes. It changes nothing. One call at
 * a time, because each takes a processor for some seconds.
 */
@WebEndpoint(id = "whatif")
public final class WhatIfEndpoint {

    private static final int BAD_REQUEST = 400;
    private static final int UNPROCESSABLE = 422;
    private static final int TOO_MANY_REQUESTS = 429;
    private static final long MOST_SECONDS = Recording.LONGEST.toSeconds();

    private final Predictions predictions;
    private final Lock running = new ReentrantLock();

    /** The mistakes of a request, or of the policy in it as {@code check} prints them. */
    public record Refused(List<String> mistakes) {}

    WhatIfEndpoint(Predictions predictions) {
        this.predictions = predictions;
    }

    /**
     * Predicts what a policy would do. Blocks.
     *
     * @param policy a policy in YAML
     * @param seconds of how many of the latest seconds the requests are replayed; null for all that are recorded
     */
    @WriteOperation
    public WebEndpointResponse<Object> predict(String policy, @Nullable Integer seconds) {
        long most = seconds == null ? MOST_SECONDS : seconds;
        if (most < 1 || most > MOST_SECONDS) {
            return refused(BAD_REQUEST, "seconds: %d (expected: 1 to %d)".formatted(most, MOST_SECONDS));
        }
        // Before the policy is read: reading a large one takes seconds, and more memory than the policy.
        if (!running.tryLock()) {
            return refused(TOO_MANY_REQUESTS, "another replay is running (expected: one at a time)");
        }
        try {
            PolicyFile candidate = PolicyReader.read("candidate", policy);
            return new WebEndpointResponse<>(predictions.under(candidate.policy(), Duration.ofSeconds(most)));
        } catch (InvalidPolicyException invalid) {
            return refused(
                    UNPROCESSABLE,
                    invalid.mistakes().stream().map(Mistake::toString).toArray(String[]::new));
        } finally {
            running.unlock();
        }
    }

    private static WebEndpointResponse<Object> refused(int status, String... mistakes) {
        return new WebEndpointResponse<>(new Refused(List.of(mistakes)), status);
    }
}
