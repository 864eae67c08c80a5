package io.fairgate.spring.upstream;

import io.fairgate.upstream.Balancer;
import io.fairgate.upstream.Balancer.Limit;
import io.fairgate.upstream.Instance;
import io.fairgate.upstream.InstanceStatus;
import io.fairgate.upstream.Outcome;
import io.fairgate.upstream.Upstream;
import java.net.InetAddress;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/** The instances of one upstream: sends each request to one of them, and notes what that says about the instance. */
public final class LiveUpstream {

    private static final Logger log = LoggerFactory.getLogger(LiveUpstream.class);

    private final String name;
    private final Scheduler time;
    private final InstanceMeters meters;

    /** Of names that have several. Guarded by this. */
    private final Map<URI, List<InetAddress>> addresses = new HashMap<>();

    /** Guarded by this. */
    private final Balancer<InstanceAddress> balancer;

    /** Requests that wait for room at an instance. */
    private final RoomQueue room = new RoomQueue();

    private final Runnable whenSizeChanges;

    private volatile boolean isGone;

    /** The pools with permits for each instance, and how many. Guarded by this. */
    private Map<String, Integer> permitsPerInstance = Map.of();

    private volatile Upstream settings;

    /** @param whenSizeChanges called when {@link #size} may have changed */
    LiveUpstream(String name, Upstream settings, Scheduler time, InstanceMeters meters, Runnable whenSizeChanges) {
        this.name = name;
        this.settings = settings;
        this.time = time;
        this.meters = meters;
        this.whenSizeChanges = whenSizeChanges;
        this.balancer = new Balancer<>(weights(settings), settings.balance(), settings.health(), new Random());
    }

    /** As the policy names it. */
    public String name() {
        return name;
    }

    Upstream settings() {
        return settings;
    }

    private long now() {
        return time.now(TimeUnit.NANOSECONDS);
    }

    // ---- the instances ----

    /** @param permitsPerInstance of each pool that has permits for each instance with weight 1 */
    void reconfigure(Upstream next, Map<String, Integer> permitsPerInstance) {
        synchronized (this) {
            this.permitsPerInstance = permitsPerInstance;
            settings = next;
            addresses
                    .keySet()
                    .retainAll(next.instances().stream().map(Instance::uri).toList());
            replace();
            if (next.check() == null) {
                balancer.status(now()).forEach(status -> balancer.setReady(status.instance(), true));
            }
        }
        changed();
    }

    private void changed() {
        if (!isGone) {
            meters.show(this);
            whenSizeChanges.run();
        }
        room.changed();
    }

    /** The policy no longer names this upstream; requests may still be in flight. */
    void leave() {
        isGone = true;
    }

    /** The policy names it again. */
    void stay() {
        isGone = false;
    }

    synchronized boolean isEmpty() {
        return balancer.inFlight() == 0;
    }

    /**
     * The permits of a pool that has some for each instance: those of the instances in use, and those that are held at the others. Without
     * the last ones, an instance that hangs would keep all permits of the others.
     *
     * @param permits for each instance with weight 1
     */
    synchronized long size(String pool, int permits) {
        return (long) permits * balancer.weightInUse() + balancer.inFlightAside(pool);
    }

    /** @param found those of an instance whose host is a name; one address is left to the HTTP client */
    void resolved(Instance instance, List<InetAddress> found) {
        List<InetAddress> several = found.size() > 1 ? inOrder(found) : List.of();
        boolean isNew;
        synchronized (this) {
            isNew = settings.instances().contains(instance)
                    && !several.equals(addresses.getOrDefault(instance.uri(), List.of()));
            if (isNew) {
                addresses.put(instance.uri(), several);
                replace();
            }
        }
        if (isNew) {
            changed();
            log.info(
                    "Upstream {}: {} has the addresses {} now.",
                    name,
                    instance.uri(),
                    found.stream().map(InetAddress::getHostAddress).toList());
        }
    }

    /** Name servers change the order of their answers. */
    private static List<InetAddress> inOrder(List<InetAddress> found) {
        return found.stream()
                .sorted(Comparator.comparing(InetAddress::getHostAddress))
                .toList();
    }

    private void replace() {
        balancer.replace(weights(settings), settings.balance(), settings.health());
    }

    private Map<InstanceAddress, Integer> weights(Upstream upstream) {
        Map<InstanceAddress, Integer> weights = new LinkedHashMap<>();
        for (Instance instance : upstream.instances()) {
            List<InetAddress> several = addresses.getOrDefault(instance.uri(), List.of());
            several.forEach(ip -> weights.put(new InstanceAddress(instance.uri(), ip), instance.weight()));
            if (several.isEmpty()) {
                weights.put(new InstanceAddress(instance.uri(), null), instance.weight());
            }
        }
        return weights;
    }

    /** The state of each instance. */
    public synchronized List<InstanceStatus<InstanceAddress>> status() {
        return balancer.status(now());
    }

    /** Whether the instance passes its checks. */
    void setReady(InstanceAddress instance, boolean isReady) {
        boolean isChanged;
        synchronized (this) {
            // A check may end after the policy has no checks any more.
            isChanged = settings.check() != null && balancer.setReady(instance, isReady);
        }
        if (isChanged && isReady) {
            log.info("Upstream {}: instance {} passes its checks, and is ready again.", name, instance);
        } else if (isChanged) {
            log.warn(
                    "Upstream {}: instance {} fails its checks, and gets no requests until it passes one.",
                    name,
                    instance);
        }
        if (isChanged) {
            changed();
        }
    }

    // ---- requests ----

    /**
     * Sends a request to an instance, and to another one if it failed there and cannot have had an effect. Completes with the headers
     * of the response, or errors as the last attempt does.
     *
     * @param attempt sends the request to the instance that was chosen
     */
    public Mono<Void> send(ServerWebExchange exchange, Function<InstanceUse, Mono<Void>> attempt) {
        return new Attempts(this, exchange, attempt).send();
    }

    /**
     * Chooses an instance, which the request uses from now on.
     *
     * @param before instances that the request was sent to by earlier calls, by a filter that sends it again: when there is no other,
     *     it begins with them anew
     * @param tried instances that it was sent to by this call
     * @param pool whose permit it has; null for none. If the pool has permits for each instance, an instance can be full
     * @return null when all that can take the request are full
     */
    synchronized @Nullable InstanceUse choose(List<Object> before, List<Object> tried, @Nullable String pool) {
        Integer permits = pool == null ? null : permitsPerInstance.get(pool);
        Limit limit = pool == null || permits == null ? null : new Limit(pool, permits);
        List<Object> all = new ArrayList<>(before);
        all.addAll(tried);
        Balancer.@Nullable Use<InstanceAddress> use = balancer.choose(all, limit, now());
        if (use == null && !before.isEmpty()) {
            use = balancer.choose(tried, limit, now());
        }
        return use == null ? null : new InstanceUse(this, use);
    }

    /** Whether a request may be sent to one more instance. */
    synchronized boolean hasOther(List<Object> tried) {
        return tried.size() <= settings.retries()
                && balancer.status(now()).stream().anyMatch(status -> !tried.contains(status.instance()));
    }

    /** A request that failed is sent to another instance. */
    void repeated() {
        meters.repeated(this);
    }

    /** Where requests wait for room at an instance. */
    RoomQueue room() {
        return room;
    }

    /** @param why it failed, for the operator */
    void report(Balancer.Use<InstanceAddress> use, Outcome outcome, String why) {
        Balancer.@Nullable Change<InstanceAddress> change;
        synchronized (this) {
            change = balancer.report(use, outcome, now());
        }
        if (outcome == Outcome.FAILED || outcome == Outcome.UNREACHABLE) {
            meters.failed(this, use.instance(), outcome);
        }
        if (change != null && change.aside() > 0) {
            log.warn(
                    "Upstream {}: instance {} gets no requests for {} s, after {} failures in a row; the latest: {}",
                    name,
                    change.instance(),
                    Math.round(Duration.ofNanos(change.aside()).toMillis() / 100.0) / 10.0,
                    change.failures(),
                    why);
        } else if (change != null) {
            log.info("Upstream {}: instance {} has answered, and is in use again.", name, change.instance());
        }
        if (change != null) {
            changed();
        }
    }

    void end(Balancer.Use<InstanceAddress> use) {
        boolean isSizeChanged;
        synchronized (this) {
            balancer.end(use);
            isSizeChanged = use.isLimited() && !use.isInstanceInUse();
        }
        room.changed();
        if (isSizeChanged && !isGone) {
            whenSizeChanges.run();
        }
    }

    synchronized void resume(Balancer.Use<InstanceAddress> use) {
        balancer.resume(use);
    }

    synchronized void sent(Balancer.Use<InstanceAddress> use) {
        balancer.sent(use, now());
    }

    Disposable after(Duration delay, Runnable task) {
        return time.schedule(task, delay.toNanos(), TimeUnit.NANOSECONDS);
    }
}
