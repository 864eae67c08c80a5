package io.fairgate.spring.admission;

import org.springframework.context.SmartLifecycle;

/**
 * Learns when Spring no longer waits for {@link GracefulShutdown}, by stopping in the phase after it. That one depends on this one, because
 * Spring stops a bean after those that depend on it.
 */
final class ShutdownTimeout implements SmartLifecycle {

    static final int PHASE = Integer.MAX_VALUE - 1;

    private volatile boolean running;
    private volatile Runnable action = () -> {};

    /** The action runs once, also when the shutdown has ended in time. */
    void then(Runnable next) {
        action = next;
    }

    @Override
    public void start() {
        running = true;
    }

    @Override
    public void stop() {
        running = false;
        action.run();
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
        return PHASE;
    }
}
