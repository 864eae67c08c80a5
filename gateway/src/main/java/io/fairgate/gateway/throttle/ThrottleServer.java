package io.fairgate.gateway.throttle;

import io.fairgate.gateway.http.HttpListener;
import io.fairgate.gateway.http.RouteTable;
import io.fairgate.lease.FencingTokens;
import io.fairgate.lease.LeaseHolder;
import io.fairgate.lease.LeaseTerm;
import io.fairgate.lease.Leases;
import io.fairgate.lease.embedded.EmbeddedLeases;
import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PoolListener;
import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.embedded.EmbeddedPermitPool;
import io.fairgate.shares.TenantShares;
import io.fairgate.tenant.TenantId;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/** Serves throttle's protocol alone, on its own port and for its own pools. All clients are one tenant. */
public final class ThrottleServer {

    /** The time for answers that are under way at the shutdown. */
    private static final Duration LAST_ANSWERS = Duration.ofMillis(300);

    private static final PeerOwner OWNER = new PeerOwner(LeaseHolder.of(TenantId.of("clients"), "throttle"), 0);

    private final Declared semaphores;
    private final HttpListener listener;

    private ThrottleServer(Declared semaphores, HttpListener listener) {
        this.semaphores = semaphores;
        this.listener = listener;
    }

    /**
     * Starts to serve. Blocks until it does.
     *
     * @param time the clock and the timer; must be monotonic
     * @throws reactor.netty.ChannelBindException when the port is taken, or the address is not one of this machine
     */
    public static ThrottleServer start(
            ThrottleFile file, ThrottleSettings settings, InetSocketAddress address, Scheduler time) {
        Declared semaphores = new Declared(file, settings, time);
        Leases leases = new EmbeddedLeases(semaphores::pool, time, new FencingTokens(InstantSource.system()));
        ThrottleProtocol protocol =
                new ThrottleProtocol(leases, semaphores, exchange -> Mono.just(OWNER), settings, time);
        RouteTable routes = new RouteTable(
                protocol.routes(), ThrottleProtocol::notFound, call -> call.answer(HttpStatus.METHOD_NOT_ALLOWED));
        return new ThrottleServer(semaphores, HttpListener.listen(address, routes, List.of(), target -> ""));
    }

    public int port() {
        return listener.port();
    }

    /** Refuses all pending locks, accepts no more connections, and ends. Blocks until the end. */
    public void end() {
        semaphores.close();
        listener.end(LAST_ANSWERS);
    }

    /** One pool for each semaphore of the file. */
    private static final class Declared implements Semaphores {
        private final Map<String, Semaphore> byName = new LinkedHashMap<>();

        Declared(ThrottleFile file, ThrottleSettings settings, Scheduler time) {
            for (ThrottleFile.Declared each : file.semaphores()) {
                int permits = (int) Math.max(1, Math.min(each.max(), PoolSettings.MAX_PERMITS));
                // A peer waits for one request at a time, so the queue needs no more places than there may be peers.
                PoolSettings pool =
                        new PoolSettings(permits, settings.mostPeers(), LeaseTerm.LONGEST, LeaseTerm.LONGEST);
                byName.put(
                        each.name(),
                        new Semaphore(
                                new EmbeddedPermitPool(each.name(), pool, TenantShares.EQUAL, time, PoolListener.NONE),
                                each.max(),
                                each.level()));
            }
        }

        @Override
        public @Nullable Semaphore find(String name) {
            return byName.get(name);
        }

        @Override
        public Collection<Semaphore> all() {
            return byName.values();
        }

        @Nullable
        PermitPool pool(String name) {
            Semaphore semaphore = find(name);
            return semaphore == null ? null : semaphore.pool();
        }

        /** Refuses all pending locks. Does not wait for held locks. */
        void close() {
            Flux.fromIterable(byName.values())
                    .flatMap(semaphore -> semaphore.pool().close(Duration.ZERO), Integer.MAX_VALUE)
                    .subscribe();
        }
    }
}
