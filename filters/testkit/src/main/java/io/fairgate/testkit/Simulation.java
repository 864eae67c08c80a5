package io.fairgate.testkit;

import io.fairgate.fairness.FairScheduler;
import io.fairgate.fairness.QueuedRequest;
import io.fairgate.testkit.EventLog.Kind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.Set;

/**
 * Runs a workload against the scheduler in virtual time and records the events.
 *
 * <p>All events of one instant reach the scheduler before it grants, so that tenants that start together start equal.
 */
public final class Simulation {

    /** Receives the events, in their order. */
    interface Observer {
        void happened(long at, Kind kind, Load load, long request);
    }

    /** A planned event; events of one instant happen in the order in which they were planned. */
    private record Event(long at, long order, Runnable action) {}

    /** A request of one connection. */
    private static final class Request extends QueuedRequest {
        private final Load load;
        private final long number;
        private boolean leavesAtTheGrant;

        Request(Load load, long number) {
            super(load.tenant(), null, load.permits());
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
    private final Observer observer;
    private final PriorityQueue<Event> events =
            new PriorityQueue<>(Comparator.comparingLong(Event::at).thenComparingLong(Event::order));
    private final Set<Request> waiting = new LinkedHashSet<>();
    private long now;
    private long planned;
    private long requests;

    private Simulation(Workload workload, Observer observer) {
        this.workload = workload;
        this.observer = observer;
        this.scheduler =
                new FairScheduler(workload.permits(), workload.shares(), workload.settings(), workload.gain(), 0);
        this.random = new Random(workload.seed());
    }

    /** Runs the workload to its end. */
    public static EventLog run(Workload workload) {
        EventLog.Writer log = new EventLog.Writer(workload);
        return log.close(new Simulation(workload, log).run());
    }

    /** Runs the workload to its end and keeps only sums, however many requests there are. */
    public static PermitTime measure(Workload workload, Duration from) {
        PermitTime permitTime = new PermitTime(workload, from.toNanos());
        permitTime.until(new Simulation(workload, permitTime).run());
        return permitTime;
    }

    /** Runs the workload; returns the time of its end. */
    private long run() {
        for (Load load : workload.loads()) {
            plan(load.from().toNanos(), () -> start(load));
            plan(load.until().toNanos(), () -> stop(load));
        }
        long end = workload.length().toNanos();
        while (nextInstant() <= end) {
            now = nextInstant();
            while (!events.isEmpty() && Objects.requireNonNull(events.peek()).at() == now) {
                Objects.requireNonNull(events.poll()).action().run();
            }
            List<QueuedRequest> granted = new ArrayList<>();
            scheduler.grant(now, granted::add);
            granted.forEach(request -> begin((Request) request));
        }
        return end;
    }

    /** The next event of the workload, or the next end of a collection in the scheduler. */
    private long nextInstant() {
        Event next = events.peek();
        return Math.min(next == null ? Long.MAX_VALUE : next.at(), Math.max(now, scheduler.nextEndOfCollection()));
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
                    observer.happened(now, Kind.CANCELLED, load, request.number);
                });
    }

    private void ask(Load load) {
        Request request = new Request(load, requests++);
        waiting.add(request);
        observer.happened(now, Kind.ARRIVED, load, request.number);
        scheduler.enqueue(request, now);
        if (load.leaving() > 0) {
            double dice = random.nextDouble();
            request.leavesAtTheGrant = dice < load.leaving() / 2;
            if (!request.leavesAtTheGrant && dice < load.leaving()) {
                plan(now + load.holds().draw(random), () -> leave(request));
            }
        }
    }

    /** If the request still waits, its client leaves, and another client arrives. */
    private void leave(Request request) {
        if (waiting.remove(request)) {
            scheduler.cancel(request, now);
            observer.happened(now, Kind.CANCELLED, request.load, request.number);
            if (now < request.load.until().toNanos()) {
                ask(request.load);
            }
        }
    }

    private void begin(Request request) {
        waiting.remove(request);
        observer.happened(now, Kind.GRANTED, request.load, request.number);
        long hold = request.load.holds().draw(random);
        plan(now + (request.leavesAtTheGrant ? Math.max(1, hold / 1_000) : hold), () -> end(request));
    }

    private void end(Request request) {
        scheduler.release(request, now);
        observer.happened(now, Kind.RELEASED, request.load, request.number);
        if (now < request.load.until().toNanos()) {
            ask(request.load);
        }
    }
}
