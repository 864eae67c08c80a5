package io.fairgate.gateway.lease;

import io.fairgate.gateway.http.HttpListener;
import io.fairgate.gateway.http.RouteTable;
import io.fairgate.spring.admission.TenantAccess;
import io.fairgate.spring.fairshare.PermitPools;
import io.fairgate.spring.policy.PolicyHolder;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.web.server.PortInUseException;
import org.springframework.context.SmartLifecycle;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.netty.ChannelBindException;

/**
 * The port of the lease API: open while the gateway serves, closed as soon as the shutdown begins.
 *
 * <p>At the shutdown it accepts no more calls, and waiting calls are answered at once. Permits stay held until no request
 * waits for permits: a waiting request would get permits that a holder still works with. Then all permits are released, so
 * that the pools are empty. Holders restore their leases at the next process. Leases in Redis stay held, and go on at other gateways.
 */
public final class LeaseApiServer implements SmartLifecycle {

    private static final Duration FOR_ANSWERS = Duration.ofSeconds(2);
    private static final Duration CHECK_EVERY = Duration.ofMillis(20);

    private final LeaseSettings settings;
    private final LeaseRegister register;
    private final RouteTable routes;
    private final TenantAccess access;
    private final PolicyHolder policy;
    private final PermitPools pools;
    private final Scheduler time;
    private volatile @Nullable HttpListener listener;

    LeaseApiServer(
            LeaseSettings settings,
            LeaseRegister register,
            RouteTable routes,
            TenantAccess access,
            PolicyHolder policy,
            PermitPools pools,
            Scheduler time) {
        this.settings = settings;
        this.register = register;
        this.routes = routes;
        this.access = access;
        this.policy = policy;
        this.pools = pools;
        this.time = time;
    }

    /** The port on which it listens; an error when it is not open. */
    public int port() {
        HttpListener open = listener;
        if (open == null) {
            throw new IllegalStateException("the lease port is not open");
        }
        return open.port();
    }

    @Override
    public void start() {
        register.open();
        try {
            listener = HttpListener.listen(
                    new InetSocketAddress(settings.address(), settings.port()),
                    routes,
                    List.of(new LeaseExceptionHandler(access)),
                    target -> LeaseRoutes.isOwn(target) ? LeaseProblems.MALFORMED_TARGET.json() : "",
                    peer -> policy.current().identification().proxies().useProtocol(peer));
        } catch (ChannelBindException failure) {
            throw isInUse(failure)
                    ? new PortInUseException(settings.port(), failure)
                    : new InvalidConfigurationPropertyValueException(
                            LeaseSettings.PREFIX + ".address",
                            settings.address().getHostAddress(),
                            "expected: an address of this machine");
        }
    }

    /** Otherwise the address is not one of this machine. */
    private static boolean isInUse(ChannelBindException failure) {
        Throwable cause = failure.getCause();
        return cause == null || !String.valueOf(cause.getMessage()).contains("assign requested address");
    }

    @Override
    public void stop(Runnable whenDone) {
        HttpListener open = listener;
        listener = null;
        register.beginToEnd();
        Mono<Void> closed = open == null
                ? Mono.empty()
                : Mono.<Void>fromRunnable(() -> open.end(FOR_ANSWERS)).subscribeOn(Schedulers.boundedElastic());
        Mono<Void> empty = Flux.interval(Duration.ZERO, CHECK_EVERY, time)
                .onBackpressureDrop()
                .concatMap(tick -> isOver().onErrorReturn(true))
                .takeUntil(over -> over)
                .then(Mono.defer(() -> register.end().timeout(FOR_ANSWERS, Mono.empty(), time)))
                .onErrorComplete();
        var unused = Mono.when(closed, empty).doFinally(end -> whenDone.run()).subscribe();
    }

    /** Whether no waiting request could get the permits that leases still hold. */
    private Mono<Boolean> isOver() {
        return register.leases().count().flatMap(leases -> {
            if (leases.open() == 0) {
                return Mono.just(true);
            }
            return access.isDraining() ? pools.totals().map(totals -> totals.waiting() == 0) : Mono.just(false);
        });
    }

    @Override
    public void stop() {
        stop(() -> {});
    }

    @Override
    public boolean isRunning() {
        return listener != null;
    }

    /** Starts after the web servers and stops before them, while the pools are drained. */
    @Override
    public int getPhase() {
        return Integer.MAX_VALUE;
    }
}
