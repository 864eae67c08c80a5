package io.fairgate.spring.refusal;

import io.fairgate.policy.TenantPolicy;
import io.fairgate.tenant.TenantId;
import io.micrometer.core.instrument.Counter;
import org.jspecify.annotations.Nullable;

/** Counts refusals, failures, and the records that the logs of them have lost. */
public interface RefusalMeters {

    /**
     * A request was refused before a pool was asked.
     *
     * @param tenant null when it is not known
     * @param reason one of a few fixed words
     * @param enforced false in a dry run, where the request goes on
     */
    void refused(@Nullable TenantId tenant, String reason, boolean enforced);

    /**
     * A request failed after it was admitted.
     *
     * @param pool null when its route has none
     * @param tenant null when it is not known
     * @param reason one of a few fixed words
     */
    void failed(@Nullable String pool, @Nullable TenantPolicy tenant, String reason);

    /**
     * Counts new connections that were refused because the gateway was overloaded.
     *
     * @param enforced false in a dry run, where the connections are served
     */
    Counter connectionsRefused(boolean enforced);

    /** Counts the records that a log has lost. */
    Counter recordsLost(String log);
}
