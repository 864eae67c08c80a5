package io.fairgate.spring.fairshare;

import java.util.function.Consumer;

/** The sizes of pools that have permits for each instance of an upstream. */
public interface PoolsPerInstance {

    /** Without upstreams. */
    PoolsPerInstance NONE = new PoolsPerInstance() {
        @Override
        public long size(String upstream, String pool, int permits) {
            return permits;
        }

        @Override
        public void whenChanged(Consumer<String> listener) {}
    };

    /**
     * How many permits a pool has now.
     *
     * @param permits for each instance with weight 1
     */
    long size(String upstream, String pool, int permits);

    /** Sets the one listener, which is called with the name of each upstream for which sizes may have changed. On any thread. */
    void whenChanged(Consumer<String> listener);
}
