package io.fairgate.redis.lease;

import io.fairgate.lease.LeaseListener;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/** The listeners of the leases of one gateway. A bug of a listener must not cost a lease its permits. */
final class LeaseEvents {

    private final List<LeaseListener> listeners = new CopyOnWriteArrayList<>();

    void add(LeaseListener listener) {
        listeners.add(listener);
    }

    void publish(Consumer<LeaseListener> event) {
        for (LeaseListener listener : listeners) {
            try {
                event.accept(listener);
            } catch (RuntimeException | Error e) {
                Operators.onErrorDropped(e, Context.empty());
            }
        }
    }
}
