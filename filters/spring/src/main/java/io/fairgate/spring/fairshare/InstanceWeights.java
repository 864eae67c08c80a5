package io.fairgate.spring.fairshare;

import java.util.function.Consumer;

/** The instances of upstreams that are in use, for pools that have permits for each of them. */
public interface InstanceWeights {

    /** Without upstreams. */
    InstanceWeights NONE = new InstanceWeights() {
        @Override
        public int weightInUse(String upstream) {
            return 1;
        }

        @Override
        public void whenChanged(Consumer<String> listener) {}
    };

    /** The weights of the instances of an upstream that are in use, together; 1 when there is no such upstream. */
    int weightInUse(String upstream);

    /** Sets the one listener, which is called with the name of each upstream of which other instances may be in use now. On any thread. */
    void whenChanged(Consumer<String> listener);
}
