package io.fairgate.spring.upstream;

import io.fairgate.upstream.HealthCheck;
import io.fairgate.upstream.Instance;
import io.fairgate.upstream.InstanceStatus;
import io.fairgate.upstream.Upstream;
import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.DisposableBean;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/** Looks up the addresses of instances, and checks whether instances are ready, from time to time. */
final class InstanceWatch implements DisposableBean {

    private static final Logger log = LoggerFactory.getLogger(InstanceWatch.class);

    /** The JVM or the resolver may keep an answer for longer. */
    private static final Duration LOOKUP = Duration.ofSeconds(5);

    private static final int CHECKS_AT_ONCE = 128;

    /** Finds all addresses of a name. Blocks. */
    @FunctionalInterface
    interface Lookup {
        InetAddress[] allOf(String host) throws UnknownHostException;
    }

    /** Emits whether an instance is ready. */
    @FunctionalInterface
    interface Check {
        Mono<Boolean> passes(InstanceAddress instance, HealthCheck check);
    }

    private record Watched(Upstream settings, Disposable work) {}

    private final Scheduler time;
    private final Scheduler blocking;
    private final Lookup lookup;
    private final Check check;
    private final Map<LiveUpstream, Watched> watched = new HashMap<>();

    /** @param blocking runs lookups */
    InstanceWatch(Scheduler time, Scheduler blocking, Lookup lookup, Check check) {
        this.time = time;
        this.blocking = blocking;
        this.lookup = lookup;
        this.check = check;
    }

    /** Begins again if the settings have changed. */
    synchronized void begin(LiveUpstream upstream) {
        Upstream settings = upstream.settings();
        Watched before = watched.get(upstream);
        if (before == null || !before.settings.equals(settings)) {
            end(upstream);
            watched.put(upstream, new Watched(settings, watch(upstream, settings)));
        }
    }

    synchronized void end(LiveUpstream upstream) {
        Watched before = watched.remove(upstream);
        if (before != null) {
            before.work.dispose();
        }
    }

    @Override
    public synchronized void destroy() {
        watched.values().forEach(each -> each.work.dispose());
        watched.clear();
    }

    private Disposable watch(LiveUpstream upstream, Upstream settings) {
        Disposable.Composite work = Disposables.composite();
        for (Instance instance : settings.instances()) {
            if (hasName(instance)) {
                work.add(lookups(upstream, instance).subscribe());
            }
        }
        HealthCheck health = settings.check();
        if (health != null) {
            work.add(checks(upstream, health).subscribe());
        }
        return work;
    }

    /** With TLS the name is left to the HTTP client, which verifies the certificate against it. */
    private static boolean hasName(Instance instance) {
        String host = InstanceAddress.host(instance.uri());
        return !Instance.isSecure(instance.uri())
                && !NetUtil.isValidIpV4Address(host)
                && !NetUtil.isValidIpV6Address(host);
    }

    private Flux<Void> lookups(LiveUpstream upstream, Instance instance) {
        String host = InstanceAddress.host(instance.uri());
        return Mono.fromCallable(() -> lookup.allOf(host))
                .subscribeOn(blocking)
                .doOnNext(found -> upstream.resolved(instance, ofOneFamily(found)))
                .doOnError(failure -> log.debug("The addresses of {} stay as they were.", host, failure))
                .onErrorComplete()
                .then(Mono.delay(LOOKUP, time).then())
                .repeat();
    }

    /** A server often listens on one family only, and the resolver knows which one is preferred here. */
    private static List<InetAddress> ofOneFamily(InetAddress[] found) {
        return Arrays.stream(found)
                .filter(address -> address.getClass() == found[0].getClass())
                .distinct()
                .limit(Upstream.MAX_INSTANCES)
                .toList();
    }

    private Flux<Void> checks(LiveUpstream upstream, HealthCheck health) {
        Map<InstanceAddress, Integer> failures = new HashMap<>();
        return Flux.defer(() -> {
                    List<InstanceAddress> instances = upstream.status().stream()
                            .map(InstanceStatus::instance)
                            .toList();
                    synchronized (failures) {
                        failures.keySet().retainAll(instances);
                    }
                    return Flux.fromIterable(instances);
                })
                .flatMap(
                        instance -> check.passes(instance, health)
                                .doOnNext(passes -> note(upstream, instance, passes, failures)),
                        CHECKS_AT_ONCE)
                .then(Mono.delay(health.every(), time).then())
                .repeat();
    }

    private static void note(
            LiveUpstream upstream, InstanceAddress instance, boolean passes, Map<InstanceAddress, Integer> failures) {
        int inARow;
        synchronized (failures) {
            inARow = passes ? 0 : failures.getOrDefault(instance, 0) + 1;
            failures.put(instance, inARow);
        }
        if (passes || inARow > 1) {
            upstream.setReady(instance, passes);
        }
    }
}
