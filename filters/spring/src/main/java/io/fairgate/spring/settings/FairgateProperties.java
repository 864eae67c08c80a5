package io.fairgate.spring.settings;

import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

/**
 * The settings of the process. The policy holds what an operator changes while the process runs.
 *
 * @param watchPolicy how often to look whether the policy file has changed; 0 for never
 * @param shutdownGrace how long requests are still served as before after the application was asked to stop
 * @param drainTime how long after that waiting requests are still served
 * @param waitingBodies memory for the bodies of waiting requests, all of them together
 * @param quotas where usage is kept
 * @param accessLog whether each request leaves a record in the log io.fairgate.access
 * @param ambiguousPaths whether a path that servers read in different ways is refused
 * @param allowTrace whether TRACE is forwarded like other methods
 * @param forwarding how requests are sent to the upstreams
 * @param upstreamBodyIdle how long an upstream may send nothing in the middle of a response
 * @param websocketIdle how long no bytes may pass in a WebSocket
 * @param clients how fast clients must be
 * @param explainWaits from which length on waits that were granted can be looked up; 0 for those of requests that ask for it only
 * @param metrics what metrics show
 * @param whatIf what is recorded to tell what another policy would do
 */
@ConfigurationProperties("fairgate")
public record FairgateProperties(
        @DefaultValue("1s") DurationSetting watchPolicy,
        @DefaultValue("0s") DurationSetting shutdownGrace,
        @DefaultValue("10s") DurationSetting drainTime,
        @DefaultValue("64MB") DataSize waitingBodies,
        @DefaultValue Quotas quotas,
        @DefaultValue("false") boolean accessLog,
        @DefaultValue("refuse") OnAmbiguousPath ambiguousPaths,
        @DefaultValue("false") boolean allowTrace,
        @DefaultValue("direct") Forwarding forwarding,
        @DefaultValue("30s") DurationSetting upstreamBodyIdle,
        @DefaultValue("10m") DurationSetting websocketIdle,
        @DefaultValue Clients clients,
        @DefaultValue("0s") DurationSetting explainWaits,
        @DefaultValue Metrics metrics,
        @DefaultValue WhatIf whatIf) {

    /** How a path that servers read in different ways is treated. */
    public enum OnAmbiguousPath {
        /** It is refused, because otherwise the client could choose the route by the spelling of the path. */
        REFUSE,
        /** It takes the route that matches the path as received. */
        PASS
    }

    /** How requests are sent to the upstreams. */
    public enum Forwarding {
        /** Without Spring Cloud Gateway's chain of filters, on routes of which all filters are known. */
        DIRECT,
        /** Through Spring Cloud Gateway's chain of filters, on all routes. */
        FILTER_CHAIN
    }

    /**
     * Where usage is kept.
     *
     * @param journal the file that keeps the usage of calendar quotas and totals across a restart, in a directory that
     *     exists; nothing is kept without it
     */
    public record Quotas(@Nullable Path journal) {}

    /**
     * How fast clients must be.
     *
     * @param bodyPause the longest pause in the body of a request that holds permits; 0 for no limit
     * @param minRate the bytes in a second that such a body must have, and the client must read of the response, while the pool is full; 0
     *     for no limit
     * @param readPause the longest time in which a client reads so little of a response that the upstream's body cannot be read; 0 for no limit
     */
    public record Clients(
            @DefaultValue("10s") DurationSetting bodyPause,
            @DefaultValue("500B") DataSize minRate,
            @DefaultValue("5m") DurationSetting readPause) {
        public Clients {
            require(!bodyPause.value().isNegative(), "clients.body-pause", bodyPause.value(), ">= 0");
            require(!minRate.isNegative(), "clients.min-rate", minRate, ">= 0");
            require(!readPause.value().isNegative(), "clients.read-pause", readPause.value(), ">= 0");
        }
    }

    /**
     * What metrics show.
     *
     * @param tenants how many tenants have time series of their own, beside those that the policy names: the most active
     */
    public record Metrics(@DefaultValue("" + TENANTS) int tenants) {
        public static final int TENANTS = 100;

        public Metrics {
            require(tenants >= 0, "metrics.tenants", tenants, ">= 0");
        }
    }

    /**
     * What is recorded to tell what another policy would do.
     *
     * @param requests how many of the latest requests of each pool are kept; 0 for none. Each takes 70 bytes
     */
    public record WhatIf(@DefaultValue("50000") int requests) {
        public WhatIf {
            require(requests >= 0 && requests <= 10_000_000, "what-if.requests", requests, "0 to 10000000");
        }
    }

    public FairgateProperties {
        Duration idle = upstreamBodyIdle.value();
        require(!watchPolicy.value().isNegative(), "watch-policy", watchPolicy.value(), ">= 0");
        require(!shutdownGrace.value().isNegative(), "shutdown-grace", shutdownGrace.value(), ">= 0");
        require(!drainTime.value().isNegative(), "drain-time", drainTime.value(), ">= 0");
        require(!explainWaits.value().isNegative(), "explain-waits", explainWaits.value(), ">= 0");
        require(!waitingBodies.isNegative(), "waiting-bodies", waitingBodies, ">= 0");
        Duration websocket = websocketIdle.value();
        require(!idle.isZero() && !idle.isNegative(), "upstream-body-idle", idle, "> 0");
        require(!websocket.isZero() && !websocket.isNegative(), "websocket-idle", websocket, "> 0");
    }

    private static void require(boolean isValid, String key, Object found, String expected) {
        if (!isValid) {
            throw new IllegalArgumentException("fairgate.%s: %s (expected: %s)".formatted(key, found, expected));
        }
    }
}
