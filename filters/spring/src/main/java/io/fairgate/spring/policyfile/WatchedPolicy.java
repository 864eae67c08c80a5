package io.fairgate.spring.policyfile;

import io.fairgate.config.PolicyWatcher;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.context.SmartLifecycle;

/** Watches the policy file while the application runs, and reloads it when it changes. */
final class WatchedPolicy implements SmartLifecycle {

    private final PolicySource source;
    private final PolicyReload reload;
    private final Duration every;
    private @Nullable PolicyWatcher watcher;

    /** @param every how often the file is checked; zero for never */
    WatchedPolicy(PolicySource source, PolicyReload reload, Duration every) {
        this.source = source;
        this.reload = reload;
        this.every = every;
    }

    @Override
    public synchronized void start() {
        if (source.file() != null && !every.isZero() && watcher == null) {
            watcher = PolicyWatcher.start(source.file(), every, reload::reloadUnlessRefused);
        }
    }

    /** Stops before the pools are drained, so that the policy does not change during the shutdown. */
    @Override
    public synchronized void stop() {
        if (watcher != null) {
            watcher.close();
            watcher = null;
        }
    }

    @Override
    public synchronized boolean isRunning() {
        return watcher != null;
    }

    @Override
    public int getPhase() {
        return Integer.MAX_VALUE;
    }
}
