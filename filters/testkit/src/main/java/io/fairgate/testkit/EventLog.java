package io.fairgate.testkit;

import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.ToIntFunction;

/**
 * The events of a simulation, and the figures that follow from them. All figures are computed from the events alone and not
 * taken from the scheduler, because the log is evidence about the scheduler.
 *
 * @param workload the workload that was run; its n-th tenant has the index n here
 * @param events the events, in the order in which they happened
 * @param spans the times between the events, with the permits held and the requests waiting
 */
public record EventLog(Workload workload, List<Event> events, List<Span> spans) {

    /** What can happen to a request. */
    public enum Kind {
        ARRIVED,
        GRANTED,
        RELEASED,
        CANCELLED
    }

    /**
     * One event.
     *
     * @param tenant index of the tenant in the workload
     * @param request number of the request, unique in the log
     */
    public record Event(long at, Kind kind, int tenant, long request, int permits) {}

    /** A time between two events; the arrays have one number for each tenant. */
    @SuppressWarnings("ArrayRecordComponent") // Never compared, and there are many of them.
    public record Span(long from, long to, int[] inFlight, int[] waiting) {
        long nanos() {
            return to - from;
        }

        int inFlightInAll() {
            int sum = 0;
            for (int n : inFlight) {
                sum += n;
            }
            return sum;
        }

        boolean isContended() {
            for (int n : waiting) {
                if (n > 0) {
                    return true;
                }
            }
            return false;
        }
    }

    /** How long a request waited, and for how long of that as the first of its tenant. */
    public record Wait(int tenant, long grantedAt, long nanos, long nanosAsHead) {}

    public EventLog {
        events = List.copyOf(events);
        spans = List.copyOf(spans);
    }

    /** Permit-time that a tenant used between two moments, in permit-seconds. */
    public double permitSeconds(int tenant, Duration from, Duration to) {
        return permitNanos(span -> span.inFlight()[tenant], from, to) / 1e9;
    }

    /** The tenant's part of all permit-time used between two moments. */
    public double share(int tenant, Duration from, Duration to) {
        return permitNanos(span -> span.inFlight()[tenant], from, to) / permitNanos(Span::inFlightInAll, from, to);
    }

    /** The part of the pool that was in use between two moments. */
    public double utilisation(Duration from, Duration to) {
        double whole = (double) workload.permits() * to.minus(from).toNanos();
        return permitNanos(Span::inFlightInAll, from, to) / whole;
    }

    /** When a tenant first held at least {@code permits}. */
    public Duration firstHolding(int tenant, int permits) {
        return spans.stream()
                .filter(span -> span.inFlight()[tenant] >= permits)
                .map(span -> Duration.ofNanos(span.from()))
                .findFirst()
                .orElseThrow();
    }

    /** The longest time, from a moment on, in which the tenant had waiting requests and no permit. */
    public Duration longestStarving(int tenant, Duration from) {
        long longest = 0;
        long current = 0;
        for (Span span : spans) {
            boolean starving =
                    span.inFlight()[tenant] == 0 && span.waiting()[tenant] > 0 && span.from() >= from.toNanos();
            current = starving ? current + span.nanos() : 0;
            longest = Math.max(longest, current);
        }
        return Duration.ofNanos(longest);
    }

    /** The longest time from a grant to its release, or to the end when it was not released. */
    public long longestHoldNanos() {
        Map<Long, Long> grantedAt = new HashMap<>();
        long longest = 0;
        for (Event event : events) {
            if (event.kind() == Kind.GRANTED) {
                grantedAt.put(event.request(), event.at());
            } else if (event.kind() == Kind.RELEASED) {
                longest = Math.max(longest, event.at() - Objects.requireNonNull(grantedAt.remove(event.request())));
            }
        }
        long end = spans.isEmpty() ? 0 : spans.get(spans.size() - 1).to();
        for (long at : grantedAt.values()) {
            longest = Math.max(longest, end - at);
        }
        return longest;
    }

    /** The wait of every request that was granted. */
    public List<Wait> waits() {
        Map<Long, Long> arrivedAt = new HashMap<>();
        long[] lastGrant = new long[workload.tenants().size()];
        List<Wait> waits = new ArrayList<>();
        for (Event event : events) {
            if (event.kind() == Kind.ARRIVED) {
                arrivedAt.put(event.request(), event.at());
            } else if (event.kind() == Kind.GRANTED) {
                long arrived = arrivedAt.getOrDefault(event.request(), event.at());
                long head = Math.max(arrived, lastGrant[event.tenant()]);
                waits.add(new Wait(event.tenant(), event.at(), event.at() - arrived, event.at() - head));
                lastGrant[event.tenant()] = event.at();
            }
        }
        return waits;
    }

    private double permitNanos(ToIntFunction<Span> permits, Duration from, Duration to) {
        double sum = 0;
        for (Span span : spans) {
            long start = Math.max(span.from(), from.toNanos());
            long end = Math.min(span.to(), to.toNanos());
            sum += (double) permits.applyAsInt(span) * Math.max(0, end - start);
        }
        return sum;
    }

    /** Builds a log while a simulation runs. */
    static final class Writer implements Simulation.Observer {
        private final Workload workload;
        private final List<TenantId> tenants;
        private final List<Event> events = new ArrayList<>();
        private final List<Span> spans = new ArrayList<>();
        private final int[] inFlight;
        private final int[] waiting;
        private long since;

        Writer(Workload workload) {
            this.workload = workload;
            this.tenants = workload.tenants();
            this.inFlight = new int[tenants.size()];
            this.waiting = new int[tenants.size()];
        }

        @Override
        public void happened(long at, Kind kind, Load load, long request) {
            until(at);
            int i = tenants.indexOf(load.tenant());
            events.add(new Event(at, kind, i, request, load.permits()));
            waiting[i] += kind == Kind.ARRIVED ? 1 : kind == Kind.RELEASED ? 0 : -1;
            if (kind == Kind.GRANTED) {
                inFlight[i] += load.permits();
            } else if (kind == Kind.RELEASED) {
                inFlight[i] -= load.permits();
            }
        }

        EventLog close(long at) {
            until(at);
            return new EventLog(workload, events, spans);
        }

        private void until(long at) {
            if (at > since) {
                spans.add(new Span(since, at, inFlight.clone(), waiting.clone()));
                since = at;
            }
        }
    }
}
