package io.fairgate.gateway.throttle;

import java.util.Collection;
import org.jspecify.annotations.Nullable;

/** The existing semaphores; they may change while in use. Called on any thread, for each request. */
public interface Semaphores {

    /** Null when there is no semaphore with that name. */
    @Nullable
    Semaphore find(String name);

    Collection<Semaphore> all();
}
