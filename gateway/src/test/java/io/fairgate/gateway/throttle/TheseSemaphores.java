package io.fairgate.gateway.throttle;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** Semaphores that stay as they are. */
record TheseSemaphores(List<Semaphore> all) implements Semaphores {

    static TheseSemaphores of(Semaphore... all) {
        return new TheseSemaphores(List.of(all));
    }

    @Override
    public @Nullable Semaphore find(String name) {
        return all.stream()
                .filter(semaphore -> semaphore.name().equals(name))
                .findFirst()
                .orElse(null);
    }
}
