package io.fairgate.spring.refusal;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The latest refusals, failures and waits that are to be explained, so that an operator can look up the {@code decision} that a client reports. Kept in
 * memory and bounded. When it is full, the tenant with the most decisions loses its oldest one, so that a tenant that
 * is refused all the time does not push out the decisions of others.
 */
public final class DecisionLog {

    private static final int SIZE = 4096;
    private static final int LONGEST_TEXT = 200;

    /**
     * One refusal, one that was not enforced, one failure of the upstream, or one wait that was granted. All components but {@code id},
     * {@code status} and {@code reason} are for the operator only.
     *
     * @param id the id that the client was given
     * @param tenant the tenant of the request; null when that was not known
     * @param group the group of the tenant; null when it has none
     * @param claimed the tenant id that a request without a known tenant named; null when it named no well-formed id
     * @param client the address of the client, or "unknown"
     * @param peer the address of the connection, which may be a proxy's; null when there is none
     * @param route the route that it took; null when it took none
     * @param pool the pool of the route; null when it has none, or the tenant is not known
     * @param requestClass the class of the route's requests; null when it has none
     * @param waitedSeconds how long it waited for permits of the pool; 0 when it did not
     * @param waitEndedNanos when that wait ended, or when it was decided if it did not wait, on the clock of {@link System#nanoTime}
     * @param method of the request
     * @param path without the query, which may hold secrets
     * @param trace the trace that the request belongs to; null when requests are not traced
     * @param requestId its {@code X-Request-Id}; null when requests are not traced
     * @param cause what went wrong with the upstream; null otherwise
     * @param why what was wrong with its credential; null when the reason says all
     * @param quotas the names of the quotas that refused, or would have; empty when none did
     * @param enforced false when the request passed all the same, because what decided is in a dry run
     */
    public record Decision(
            String id,
            Instant at,
            int status,
            String reason,
            @Nullable String tenant,

            @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable
            String group,

            @Nullable String claimed,
            String client,
            @Nullable String peer,
            @Nullable String route,
            @Nullable String pool,

            @JsonProperty("class") @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable
            String requestClass,

            double waitedSeconds,
            @JsonIgnore long waitEndedNanos,
            String method,
            String path,

            @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable
            String trace,

            @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable
            String requestId,

            @Nullable String cause,

            @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable
            String why,

            List<String> quotas,
            boolean enforced) {

        public Decision {
            path = shortened(path);
            quotas = List.copyOf(quotas);
            cause = cause == null ? null : shortened(cause);
        }

        private static String shortened(String text) {
            return text.length() <= LONGEST_TEXT ? text : text.substring(0, LONGEST_TEXT) + "…";
        }

        private String owner() {
            return tenant == null ? "" : tenant;
        }
    }

    /** The decisions about one tenant, and its neighbours among the tenants with as many decisions. */
    private static final class Owner {
        private final String name;
        private final Deque<Decision> decisions = new ArrayDeque<>(2);
        private Owner before = this;
        private Owner after = this;

        Owner(String name) {
            this.name = name;
        }

        void insertBefore(Owner other) {
            before = other.before;
            after = other;
            before.after = this;
            after.before = this;
        }

        void unlink() {
            before.after = after;
            after.before = before;
        }
    }

    private final Map<String, Decision> byId = new HashMap<>();
    private final Map<String, Owner> owners = new HashMap<>();
    /**
     * The owners with one decision, with two, and so on, as rings that begin after this element: the owner with the most
     * is found without a search, however many tenants there are.
     */
    private final List<Owner> byCount = new ArrayList<>();

    /** Returns an id that no other decision has. */
    public static String newId() {
        return HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextLong());
    }

    public synchronized void add(Decision decision) {
        Owner owner = owners.computeIfAbsent(decision.owner(), Owner::new);
        owner.decisions.add(decision);
        place(owner);
        byId.put(decision.id(), decision);
        if (byId.size() > SIZE) {
            forgetOldest(withMost());
        }
    }

    /** Moves the owner to the others with as many decisions, behind those that came there before. */
    private void place(Owner owner) {
        owner.unlink();
        int count = owner.decisions.size();
        while (byCount.size() < count) {
            byCount.add(new Owner(""));
        }
        owner.insertBefore(byCount.get(count - 1));
    }

    private Owner withMost() {
        Owner ring = byCount.get(byCount.size() - 1);
        while (ring.after == ring) {
            byCount.remove(byCount.size() - 1);
            ring = byCount.get(byCount.size() - 1);
        }
        return ring.after;
    }

    private void forgetOldest(Owner owner) {
        byId.remove(owner.decisions.remove().id());
        if (owner.decisions.isEmpty()) {
            owner.unlink();
            owners.remove(owner.name);
        } else {
            place(owner);
        }
    }

    /** Drops the decisions about these tenants that are older than {@code before}. */
    public synchronized void drop(Predicate<String> tenants, Instant before) {
        Predicate<Decision> old = decision -> decision.tenant() != null
                && tenants.test(decision.tenant())
                && decision.at().isBefore(before);
        List<Decision> kept = owners.values().stream()
                .flatMap(owner -> owner.decisions.stream())
                .filter(old.negate())
                .sorted(Comparator.comparing(Decision::at))
                .toList();
        byId.clear();
        owners.clear();
        byCount.clear();
        kept.forEach(this::add);
    }

    public synchronized @Nullable Decision get(String id) {
        return byId.get(id);
    }

    /** The latest decisions, newest first. */
    public List<Decision> latest(int count) {
        return latest(count, decision -> true);
    }

    /** The latest of these decisions, newest first. */
    public synchronized List<Decision> latest(int count, Predicate<Decision> which) {
        return byId.values().stream()
                .filter(which)
                .sorted(Comparator.comparing(Decision::at).reversed())
                .limit(count)
                .toList();
    }
}
