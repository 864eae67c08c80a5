package io.fairgate.spring.overload;

import io.fairgate.policy.TenantPolicy;
import io.netty.channel.EventLoop;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.DisposableBean;

/** The event loops that serve clients. */
final class EventLoops implements DisposableBean {

    private static final Logger log = LoggerFactory.getLogger(EventLoops.class);

    private final Duration maxLag;
    private final LoopTime time;
    private final ConnectionGate gate = new ConnectionGate();
    private final Map<EventLoop, MeasuredLoop> loops = new ConcurrentHashMap<>();
    private volatile int overloaded;
    private volatile boolean isStopped;

    EventLoops(Duration maxLag, LoopTime time) {
        this.maxLag = maxLag;
        this.time = time;
    }

    /** Measures a loop from now on. */
    void watch(EventLoop loop) {
        if (!loops.containsKey(loop) && !isStopped) {
            MeasuredLoop measured = new MeasuredLoop(loop, new LoopLoad(maxLag), time, this::measured);
            if (loops.putIfAbsent(loop, measured) == null) {
                measured.start();
            }
        }
    }

    /** On the loop that was measured. The numbers of other loops may change meanwhile: they are measured soon as well. */
    private void measured() {
        int late = 0;
        int withRoom = 0;
        int now = 0;
        for (MeasuredLoop loop : loops.values()) {
            late += loop.load().isLate() ? 1 : 0;
            withRoom += loop.load().hasRoom() ? 1 : 0;
            now += loop.load().isOverloaded() ? 1 : 0;
        }
        gate.measured(time.nanos(), isMost(late), isMost(withRoom));
        int before = overloaded;
        overloaded = now;
        if (before == 0 && now > 0) {
            log.warn("Overloaded: {} of {} event loops are late by more than {}.", now, loops.size(), maxLag);
        } else if (before > 0 && now == 0) {
            log.info("No longer overloaded.");
        }
    }

    /** One loop that hangs must not close the gateway to all. */
    private boolean isMost(int some) {
        return 2 * some > loops.size();
    }

    /** Whether a connection that has been accepted now is to be served. */
    boolean opens() {
        return !isMost(overloaded) || gate.opens(time.nanos());
    }

    /** Whether a loop is overloaded. */
    boolean areOverloaded() {
        return overloaded > 0;
    }

    /** Whether a loop takes a request. */
    boolean admits(EventLoop loop, TenantPolicy tenant) {
        MeasuredLoop measured = loops.get(loop);
        return measured == null
                || measured.load()
                        .admits(
                                time.nanos(),
                                tenant.id().hashCode(),
                                tenant.share().weight());
    }

    /** The highest lag of any loop of the last half a minute or longer. */
    double highestLagSeconds() {
        return loops.values().stream().mapToLong(MeasuredLoop::highestLag).max().orElse(0) / 1e9;
    }

    @Override
    public void destroy() {
        isStopped = true;
        loops.values().forEach(MeasuredLoop::stop);
    }
}
