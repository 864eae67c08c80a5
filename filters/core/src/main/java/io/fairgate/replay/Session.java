package io.fairgate.replay;

import io.fairgate.tenant.TenantId;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The requests of one client, each sent after the answer to the one before; or a single request. When a replay serves them sooner,
 * the client begins again with the first one, until the end of the session.
 *
 * @param start when the first request is sent, in nanoseconds of the recording's clock; it may be before the begin of the recording
 * @param end when the client sends no more; a session of one request is not repeated
 * @param pauseAfterRefusal how long the client waits after a refusal, in nanoseconds
 */
record Session(
        TenantId tenant,
        @Nullable String requestClass,
        long start,
        long end,
        List<Step> steps,
        long pauseAfterRefusal) {

    /**
     * One request.
     *
     * @param pause from the answer before until it is sent, in nanoseconds; 0 for the first one
     * @param hold how long it holds its permits; {@link Long#MAX_VALUE} for a hold that does not end
     * @param patience how long it waits at most, in addition to the bound of the pool; {@link Long#MAX_VALUE} for no bound of its own
     */
    record Step(int permits, long pause, long hold, long patience) {}

    Session {
        steps = List.copyOf(steps);
    }

    boolean isRepeated() {
        return steps.size() > 1;
    }
}
