package io.fairgate.spring.upstream;

import io.fairgate.permit.PoolSettings;
import io.fairgate.policy.Policy;
import io.fairgate.spring.fairshare.PoolsPerInstance;
import io.fairgate.spring.policy.PolicyParticipant;
import java.net.URI;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.springframework.cloud.gateway.route.Route;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.scheduler.Scheduler;

/**
 * The upstreams of the policy, by name. A route to one has the URI {@code upstream://NAME}. An upstream stays the same object through
 * every change of the policy, so its instances keep their state.
 */
public final class Upstreams implements PolicyParticipant, PoolsPerInstance {

    /** The scheme of the URIs of routes. */
    public static final String SCHEME = "upstream";

    private static final String NOTED = LiveUpstream.class.getName();

    private final Scheduler time;
    private final InstanceMeters meters;
    private final InstanceWatch watch;
    /** Also those that are being prepared. */
    private final Map<String, LiveUpstream> upstreams = new ConcurrentSkipListMap<>();

    /** Those that the policy no longer names, until a later change finds nothing in flight there: they may come back. */
    private final Map<String, LiveUpstream> leaving = new HashMap<>();

    private volatile Consumer<String> whenSizeChanges = name -> {};

    private volatile Policy current;

    Upstreams(Policy policy, Scheduler time, InstanceMeters meters, InstanceWatch watch) {
        this.time = time;
        this.meters = meters;
        this.watch = watch;
        this.current = policy;
        prepare(policy);
        commit(policy);
    }

    /** Whether a URI names an upstream of the policy. */
    public static boolean isNamedBy(URI uri) {
        return SCHEME.equalsIgnoreCase(uri.getScheme());
    }

    /** Finds the upstream of a URI by its name; null if the policy has no upstream with this name. */
    public @Nullable LiveUpstream of(URI uri) {
        String name = uri.getAuthority();
        return name == null ? null : upstreams.get(name);
    }

    /** Notes the upstream of the route, because the policy may change before the request is sent. */
    public void note(ServerWebExchange exchange, Route route) {
        LiveUpstream upstream = isNamedBy(route.getUri()) ? of(route.getUri()) : null;
        if (upstream != null) {
            exchange.getAttributes().put(NOTED, upstream);
        }
    }

    /** Finds the upstream of a request: the one that {@link #note} has kept, or by its name; null if the policy has no such upstream. */
    @Nullable
    LiveUpstream noted(ServerWebExchange exchange, URI uri) {
        LiveUpstream noted = exchange.getAttribute(NOTED);
        // Spring Cloud Gateway leaves the name out if it could not be that of a host.
        boolean isNoted =
                noted != null && (uri.getAuthority() == null || noted.name().equals(uri.getAuthority()));
        return isNoted ? noted : of(uri);
    }

    /** All of them, in the order of their names. */
    public Collection<LiveUpstream> all() {
        return List.copyOf(upstreams.values());
    }

    // ---- when the policy changes ----

    @Override
    public Order order() {
        return Order.UPSTREAMS;
    }

    @Override
    public synchronized void prepare(Policy next) {
        next.upstreams()
                .forEach((name, settings) -> upstreams.computeIfAbsent(name, n -> {
                    LiveUpstream known = leaving.remove(n);
                    return known == null
                            ? new LiveUpstream(n, settings, time, meters, () -> whenSizeChanges.accept(n))
                            : known;
                }));
    }

    @Override
    public synchronized void rollBack() {
        retainThoseOf(current);
    }

    @Override
    public synchronized void commit(Policy next) {
        current = next;
        retainThoseOf(next);
        next.upstreams().forEach((name, settings) -> {
            LiveUpstream upstream = upstreams.get(name);
            if (upstream != null) {
                upstream.stay();
                upstream.reconfigure(settings, permitsPerInstance(name, next));
                watch.begin(upstream);
            }
        });
    }

    /** Of the pools that are enforced: in a dry run, no request waits. */
    private static Map<String, Integer> permitsPerInstance(String upstream, Policy policy) {
        Map<String, Integer> permits = new HashMap<>();
        policy.poolsPerInstance().forEach((name, of) -> {
            PoolSettings pool = policy.pools().get(name);
            if (of.equals(upstream) && pool != null && policy.enforcement().isOn(name)) {
                permits.put(name, pool.permits());
            }
        });
        return permits;
    }

    @Override
    public void whenChanged(Consumer<String> listener) {
        whenSizeChanges = listener;
    }

    @Override
    public long size(String upstream, String pool, int permits) {
        LiveUpstream known = upstreams.get(upstream);
        return known == null ? permits : known.size(pool, permits);
    }

    private void retainThoseOf(Policy policy) {
        upstreams.values().removeIf(upstream -> {
            boolean isGone = !policy.upstreams().containsKey(upstream.name());
            if (isGone) {
                upstream.leave();
                watch.end(upstream);
                meters.gone(upstream);
                leaving.put(upstream.name(), upstream);
            }
            return isGone;
        });
        leaving.values().removeIf(LiveUpstream::isEmpty);
    }
}
