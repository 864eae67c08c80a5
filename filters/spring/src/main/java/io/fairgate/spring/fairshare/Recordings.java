package io.fairgate.spring.fairshare;

import io.fairgate.replay.Recording;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import reactor.core.scheduler.Scheduler;

/** The latest requests of each pool. */
public final class Recordings {

    private final int size;
    private final Scheduler time;
    private final Map<String, Recording> byPool = new ConcurrentHashMap<>();

    /** @param size how many requests of each pool are kept; 0 for none */
    public Recordings(int size, Scheduler time) {
        this.size = size;
        this.time = time;
    }

    /** What is recorded of a pool; null when nothing is. */
    public @Nullable Recording of(String pool) {
        return byPool.get(pool);
    }

    /** Begins to record a pool; null when nothing is recorded. */
    @Nullable
    Recording begin(String pool) {
        if (size == 0) {
            return null;
        }
        Recording recording = new Recording(size, time);
        byPool.put(pool, recording);
        return recording;
    }

    void beginAnew(String pool) {
        Recording recording = byPool.get(pool);
        if (recording != null) {
            recording.beginAnew();
        }
    }

    void forget(String pool) {
        byPool.remove(pool);
    }
}
