package io.fairgate.spring.admission;

import io.fairgate.spring.exchange.Exchanges;
import io.fairgate.spring.fairshare.PermitPools;
import io.fairgate.spring.refusal.Refusal;
import io.fairgate.spring.refusal.RefusalMeters;
import io.fairgate.time.DurationText;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.context.SmartLifecycle;
import org.springframework.http.HttpHeaders;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/**
 * Shuts the gateway down gracefully. When the application stops, requests are served as before for the grace time, so that load
 * balancers can notice. {@code Connection: close} and GOAWAY tell the clients to send their next requests elsewhere. Then the listening
 * socket is closed, new requests on open connections are refused, waiting requests are served for the drain time and then refused, and
 * requests in flight are finished. {@link OpenServers} waits for those that have no permit, in a later phase.
 *
 * <p>This lifecycle stops first, while the management port still answers: the readiness probe, which
 * Boot has set to refusing before, stays visible. {@code spring.lifecycle.timeout-per-shutdown-phase} limits it.
 */
final class GracefulShutdown implements SmartLifecycle {

    static final String TIMEOUT = "spring.lifecycle.timeout-per-shutdown-phase";

    private static final Logger log = LoggerFactory.getLogger(GracefulShutdown.class);

    private final OpenServers servers;
    private final LateConnections late;
    private final PermitPools pools;
    private final RefusalMeters refusals;
    private final Duration grace;
    private final Duration drainTime;
    private final Scheduler time;
    private final Http2Connections http2 = new Http2Connections();
    private final Consumer<HttpHeaders> closing = this::close;
    private volatile boolean running;
    private volatile boolean leaving;
    private volatile boolean draining;
    private volatile Disposable drainTimer = Disposables.disposed();

    GracefulShutdown(
            OpenServers servers,
            LateConnections late,
            PermitPools pools,
            RefusalMeters refusals,
            Duration grace,
            Duration drainTime,
            Scheduler time) {
        this.servers = servers;
        this.late = late;
        this.pools = pools;
        this.refusals = refusals;
        this.grace = grace;
        this.drainTime = drainTime;
        this.time = time;
    }

    /** The rest of the shutdown would begin before the grace time is over. */
    void warnIfLongerThan(String timeout) {
        if (grace.plus(drainTime).compareTo(DurationStyle.detectAndParse(timeout)) >= 0) {
            log.warn(
                    "fairgate.shutdown-grace ({}) and fairgate.drain-time ({}) together must be shorter than {} ({}): Spring waits for them no"
                            + " longer than that.",
                    DurationText.of(grace),
                    DurationText.of(drainTime),
                    TIMEOUT,
                    timeout);
        }
    }

    /** Whether new requests are refused. */
    boolean hasBegun() {
        return draining;
    }

    /** Throws {@link NotAdmittedException} after the grace time; otherwise remembers the connection. */
    void requireRunning(ServerWebExchange exchange) {
        if (draining) {
            refusals.refused(null, Refusal.DRAINING.reason(), true);
            Http2Connections.goAway(exchange);
            throw new NotAdmittedException(Refusal.DRAINING);
        }
        http2.add(exchange);
        if (leaving) {
            http2.announceEnd(exchange);
        }
        Exchanges.noteFields(exchange, closing);
    }

    private void close(HttpHeaders headers) {
        if (leaving) {
            headers.set(HttpHeaders.CONNECTION, "close");
        }
    }

    @Override
    public void start() {
        running = true;
    }

    @Override
    public void stop(Runnable whenDone) {
        leaving = true;
        if (grace.isZero()) {
            drain(whenDone);
            return;
        }
        http2.announceEnd();
        log.info(
                "Stopping: readiness is OUT_OF_SERVICE, and requests are served for {} more, so that load balancers can notice.",
                DurationText.of(grace));
        var unused = time.schedule(() -> drain(whenDone), grace.toNanos(), TimeUnit.NANOSECONDS);
    }

    private void drain(Runnable whenDone) {
        draining = true;
        http2.goAway();
        servers.close();
        var unused = pools.totals()
                .doOnNext(totals -> log.info(
                        "Draining: {} in flight, {} waiting; the port is closed, and waiting requests are served for up to {}.",
                        totals.inFlight(),
                        totals.waiting(),
                        DurationText.of(drainTime)))
                .then(Mono.defer(() -> {
                    drainTimer = time.schedule(this::logDrainTimeOver, drainTime.toNanos(), TimeUnit.NANOSECONDS);
                    return pools.close(drainTime);
                }))
                .doFinally(end -> finished(whenDone))
                .subscribe();
    }

    private void logDrainTimeOver() {
        var unused = pools.totals()
                .subscribe(totals -> log.info(
                        "The drain time is over: requests that still wait are refused; waiting for {} in flight.",
                        totals.inFlight()));
    }

    private void finished(Runnable whenDone) {
        drainTimer.dispose();
        running = false;
        if (!late.areCutOff()) {
            log.info("Drained: nothing waits and nothing is in flight.");
        }
        whenDone.run();
    }

    @Override
    public void stop() {
        stop(() -> {});
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    /** Not pauseable: drained pools stay closed and cannot resume. */
    @Override
    public boolean isPauseable() {
        return false;
    }

    @Override
    public int getPhase() {
        return Integer.MAX_VALUE;
    }
}
