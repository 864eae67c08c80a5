package io.fairgate.gateway.throttle;

import java.util.Collection;
import org.jspecify.annotations.Nullable;

/** Which semaphores there are; that may change while they are in use. Asked by any thread, for each request. */
public interface Semaphores {

    /** Null when there is none of that name. */
    @Nullable
    Semaphore find(String name);

    Collection<Semaphore> all();
}
