package io.fairgate.spring.upstream;

import io.fairgate.spring.exchange.Carried;
import io.fairgate.spring.exchange.Exchanges;
import io.fairgate.upstream.Balancer;
import io.fairgate.upstream.Instance;
import io.fairgate.upstream.InstanceStatus;
import io.fairgate.upstream.Outcome;
import io.fairgate.upstream.Upstream;
import java.io.IOException;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SignalType;
import reactor.core.scheduler.Scheduler;
import reactor.netty.channel.AbortedException;

/** The instances of one upstream: sends each request to one of them, and notes what that says about the instance. */
public final class LiveUpstream {

    private static final Logger log = LoggerFactory.getLogger(LiveUpstream.class);

    /** RFC 9110, 9.2.2. */
    private static final Set<HttpMethod> IDEMPOTENT = Set.of(
            HttpMethod.GET, HttpMethod.HEAD, HttpMethod.OPTIONS, HttpMethod.TRACE, HttpMethod.PUT, HttpMethod.DELETE);

    private final String name;
    private final Scheduler time;
    private final InstanceMeters meters;

    /** Of names that have several. Guarded by this. */
    private final Map<Instance, List<InetAddress>> addresses = new HashMap<>();

    /** Guarded by this. */
    private final Balancer<InstanceAddress> balancer;

    private volatile Upstream settings;

    LiveUpstream(String name, Upstream settings, Scheduler time, InstanceMeters meters) {
        this.name = name;
        this.settings = settings;
        this.time = time;
        this.meters = meters;
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

    synchronized void reconfigure(Upstream next) {
        settings = next;
        addresses.keySet().retainAll(next.instances());
        replace();
        if (next.check() == null) {
            balancer.status(now()).forEach(status -> balancer.setReady(status.instance(), true));
        }
    }

    /** @param found those of an instance whose host is a name; one address is left to the HTTP client */
    synchronized void resolved(Instance instance, List<InetAddress> found) {
        List<InetAddress> several = found.size() > 1 ? found : List.of();
        boolean isKnown = settings.instances().contains(instance);
        if (isKnown && !several.equals(addresses.getOrDefault(instance, List.of()))) {
            addresses.put(instance, several);
            replace();
            log.info(
                    "Upstream {}: {} has the addresses {} now.",
                    name,
                    instance.uri(),
                    found.stream().map(InetAddress::getHostAddress).toList());
        }
    }

    private void replace() {
        Map<InstanceAddress, Integer> weights = weights(settings);
        balancer.replace(weights, settings.balance(), settings.health());
        meters.show(this, weights.keySet());
    }

    private Map<InstanceAddress, Integer> weights(Upstream upstream) {
        Map<InstanceAddress, Integer> weights = new LinkedHashMap<>();
        for (Instance instance : upstream.instances()) {
            List<InetAddress> several = addresses.getOrDefault(instance, List.of());
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
            isChanged = balancer.setReady(instance, isReady);
        }
        if (isChanged && isReady) {
            log.info("Upstream {}: instance {} passes its checks, and is ready again.", name, instance);
        } else if (isChanged) {
            log.warn(
                    "Upstream {}: instance {} fails its checks, and gets no requests until it passes one.",
                    name,
                    instance);
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
        // Also of earlier calls for this request, by a filter that sends it again.
        return Mono.defer(() -> next(Exchanges.instances(exchange), List.of(), exchange, attempt));
    }

    private Mono<Void> next(
            List<Object> before,
            List<Object> triedNow,
            ServerWebExchange exchange,
            Function<InstanceUse, Mono<Void>> attempt) {
        InstanceUse use = choose(before, triedNow);
        Exchanges.addInstance(exchange, use.instance());
        List<Object> tried = with(triedNow, use.instance());
        return attempt.apply(use)
                .doFinally(end -> {
                    if (end == SignalType.CANCEL) {
                        use.left();
                    }
                })
                .onErrorResume(failure -> {
                    boolean isOfClient = use.hasBodyFailed() || Exchanges.isClosed(exchange);
                    use.failed(failure, isOfClient);
                    if (!isOfClient && mayRepeat(use, failure, exchange.getRequest()) && hasOther(tried)) {
                        meters.repeated(this);
                        return next(before, tried, exchange, attempt);
                    }
                    return Mono.error(failure);
                })
                .contextWrite(context -> Carried.with(context, use));
    }

    private static List<Object> with(List<Object> tried, Object instance) {
        List<Object> all = new ArrayList<>(tried);
        all.add(instance);
        return all;
    }

    /** When a filter sends the request more often than there are instances, it begins with them anew. */
    private synchronized InstanceUse choose(List<Object> before, List<Object> tried) {
        List<Object> all = new ArrayList<>(before);
        all.addAll(tried);
        Balancer.@Nullable Use<InstanceAddress> use = balancer.choose(all, now());
        return new InstanceUse(this, use == null ? Objects.requireNonNull(balancer.choose(tried, now())) : use);
    }

    private synchronized boolean hasOther(List<Object> tried) {
        return tried.size() <= settings.retries()
                && balancer.status(now()).stream().anyMatch(status -> !tried.contains(status.instance()));
    }

    /** Whether the request had no effect, or may have it twice: then it must have no body, because bodies are not kept. */
    private static boolean mayRepeat(InstanceUse use, Throwable failure, ServerHttpRequest request) {
        if (use.isAnswered() || !isOfConnection(failure)) {
            return false;
        }
        return use.isUnsent(failure) || (IDEMPOTENT.contains(request.getMethod()) && !hasBody(request));
    }

    private static boolean isOfConnection(Throwable failure) {
        return failure instanceof IOException || failure instanceof AbortedException;
    }

    private static boolean hasBody(ServerHttpRequest request) {
        HttpHeaders headers = request.getHeaders();
        return headers.getContentLength() > 0 || headers.containsHeader(HttpHeaders.TRANSFER_ENCODING);
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
    }

    synchronized void end(Balancer.Use<InstanceAddress> use) {
        balancer.end(use);
    }
}
