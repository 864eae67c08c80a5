package io.fairgate.testkit;

import io.fairgate.fairness.Claim;
import io.fairgate.fairness.FairScheduler;
import io.fairgate.testkit.EventLog.Kind;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.Set;

/**
 * Runs a workload against the scheduler on virtual time and writes down what happened.
 *
 * <p>All that happens at one instant is told to the scheduler before it grants: tenants that start together start
 * equal.
 */
public final class Simulation {

    /** Something that will happen; events of one instant in the order in which they were planned. */
    private record Event(long at, long order, Runnable action) {}

    /** A request of one connection. */
    private static final class Request extends Claim {
        private final Load load;
        private final long number;

        Request(Load load, long number) {
            super(load.tenant(), load.permits());
            this.load = load;
            this.number = number;
        }

        @Override
        protected boolean accept() {
            return true;
        }
    }

    private final Workload workload;
    private final FairScheduler scheduler;
    private final Random random;
    private final EventLog.Writer log;
    private final PriorityQueue<Event> events =
            new PriorityQueue<>(Comparator.comparingLong(Event::at).thenComparingLong(Event::order));
    private final Set<Request> waiting = new LinkedHashSet<>();
    private long now;
    private long planned;
    private long requests;

    private Simulation(Workload workload) {
        this.workload = workload;
        this.scheduler =
                new FairScheduler(workload.permits(), workload.shares(), workload.horizon(), workload.theta(), 0);
        this.random = new Random(workload.seed());
        this.log = new EventLog.Writer(workload);
    }

    /** Runs it to its end. */
    public static EventLog run(Workload workload) {
        return new Simulation(workload).run();
    }

    private EventLog run() {
        for (Load load : workload.loads()) {
            plan(load.from().toNanos(), () -> start(load));
            plan(load.until().toNanos(), () -> stop(load));
        }
        long end = workload.length().toNanos();
        while (!events.isEmpty() && Objects.requireNonNull(events.peek()).at() <= end) {
            now = Objects.requireNonNull(events.peek()).at();
            while (!events.isEmpty() && Objects.requireNonNull(events.peek()).at() == now) {
                Objects.requireNonNull(events.poll()).action().run();
            }
            List<Claim> granted = new ArrayList<>();
            scheduler.grant(now, granted::add);
            granted.forEach(claim -> begin((Request) claim));
        }
        return log.close(end);
    }

    private void plan(long at, Runnable action) {
        events.add(new Event(at, planned++, action));
    }

    private void start(Load load) {
        for (int i = 0; i < load.connections(); i++) {
            ask(load);
        }
    }

    private void stop(Load load) {
        List.copyOf(waiting).stream()
                .filter(request -> request.load.equals(load))
                .forEach(request -> {
                    waiting.remove(request);
                    scheduler.cancel(request, now);
                    log.add(now, Kind.CANCELLED, load, request.number);
                });
    }

    private void ask(Load load) {
        Request request = new Request(load, requests++);
        waiting.add(request);
        log.add(now, Kind.ARRIVED, load, request.number);
        scheduler.enqueue(request, now);
    }

    private void begin(Request request) {
        waiting.remove(request);
        log.add(now, Kind.GRANTED, request.load, request.number);
        plan(now + request.load.holds().draw(random), () -> end(request));
    }

    private void end(Request request) {
        scheduler.release(request, now);
        log.add(now, Kind.RELEASED, request.load, request.number);
        if (now < request.load.until().toNanos()) {
            ask(request.load);
        }
    }
}
