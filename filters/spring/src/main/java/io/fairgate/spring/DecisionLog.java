package io.fairgate.spring;

import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * The latest refusals, so that an operator can look up the {@code decision} that a client reports. Kept in memory and
 * bounded: the oldest goes when a new one comes.
 */
public final class DecisionLog {

    private static final int SIZE = 4096;

    /**
     * One refusal.
     *
     * @param id what the client was told
     * @param tenant whose request it was; null when that was not known
     */
    public record Decision(
            String id,
            Instant at,
            int status,
            String reason,
            @Nullable String tenant,
            String path,
            String detail) {}

    private final Map<String, Decision> decisions = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Decision> eldest) {
            return size() > SIZE;
        }
    };

    static String newId() {
        return "%016x".formatted(ThreadLocalRandom.current().nextLong());
    }

    synchronized void add(Decision decision) {
        decisions.put(decision.id(), decision);
    }

    public synchronized @Nullable Decision get(String id) {
        return decisions.get(id);
    }

    /** The newest first. */
    public synchronized List<Decision> latest(int count) {
        List<Decision> all = new ArrayList<>(decisions.values());
        java.util.Collections.reverse(all);
        return List.copyOf(all.subList(0, Math.min(count, all.size())));
    }
}
