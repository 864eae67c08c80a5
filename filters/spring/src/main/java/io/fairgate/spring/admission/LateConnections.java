package io.fairgate.spring.admission;

import io.netty.channel.group.ChannelGroup;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.SmartLifecycle;

/**
 * Cuts off the connections for which Spring no longer waits, in the phase after that of {@link OpenServers}, which depends on this bean because Spring stops
 * a bean after those that depend on it.
 */
final class LateConnections implements SmartLifecycle {

    private static final Logger log = LoggerFactory.getLogger(LateConnections.class);

    private final boolean areExpected;
    private final ChannelGroup open;
    private volatile boolean running;
    private volatile boolean cutOff;

    /**
     * @param open the open connections
     * @param areExpected whether exchanges under way are not finished: with {@code server.shutdown=immediate}
     */
    LateConnections(ChannelGroup open, boolean areExpected) {
        this.open = open;
        this.areExpected = areExpected;
    }

    ChannelGroup open() {
        return open;
    }

    boolean areExpected() {
        return areExpected;
    }

    /** Whether connections were closed with exchanges under way. */
    boolean areCutOff() {
        return cutOff;
    }

    @Override
    public void start() {
        running = true;
    }

    @Override
    public void stop() {
        running = false;
        int left = open.size();
        if (left > 0) {
            cutOff = true;
            if (!areExpected) {
                log.warn(
                        "Connections that are cut off, because their requests took longer than"
                                + " spring.lifecycle.timeout-per-shutdown-phase: {}.",
                        left);
            }
            var unused = open.close();
        }
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    @Override
    public boolean isPauseable() {
        return false;
    }

    @Override
    public int getPhase() {
        return WebServerApplicationContext.GRACEFUL_SHUTDOWN_PHASE - 1;
    }
}
