package io.fairgate.upstream;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.Set;
import java.util.function.LongFunction;

/**
 * Requests to an upstream, in virtual time: they arrive at random, wait for one of the permits of a pool, are sent to the instance
 * that a {@link Balancer} chooses, and again to another one if no connection could be opened.
 */
final class SimulatedUpstream {

    /** What an instance does with a request that begins now. */
    record Reply(Outcome outcome, long nanos) {

        static Reply answer(double millis) {
            return new Reply(Outcome.ANSWERED, (long) (millis * 1e6));
        }

        static Reply error(double millis) {
            return new Reply(Outcome.FAILED, (long) (millis * 1e6));
        }

        static Reply refused() {
            return new Reply(Outcome.UNREACHABLE, 200_000);
        }
    }

    /** What a second brought. */
    static final class Sums {
        final Map<String, Integer> sent = new HashMap<>();
        int answered;
        int failed;
        int waitedLong;

        int sent(String instance) {
            return sent.getOrDefault(instance, 0);
        }

        double share(String instance) {
            int all = sent.values().stream().mapToInt(Integer::intValue).sum();
            return all == 0 ? 0 : (double) sent(instance) / all;
        }
    }

    private record Event(long at, long order, Runnable run) {}

    private final PriorityQueue<Event> events = new PriorityQueue<>(
            (a, b) -> a.at() == b.at() ? Long.compare(a.order(), b.order()) : Long.compare(a.at(), b.at()));
    private final Random random = new Random(1);
    private final Map<String, LongFunction<Reply>> replies = new LinkedHashMap<>();
    private final List<long[]> queue = new ArrayList<>();
    final List<String> changes = new ArrayList<>();
    private final Balancer<String> balancer;
    private final double perSecond;
    private final int retries;
    private int permits;
    private long now;
    private long order;
    private Sums sums = new Sums();

    SimulatedUpstream(
            Map<String, LongFunction<Reply>> replies,
            Balance balance,
            HealthRules rules,
            double perSecond,
            int permits,
            int retries) {
        this.replies.putAll(replies);
        Map<String, Integer> weights = new LinkedHashMap<>();
        replies.keySet().forEach(name -> weights.put(name, 1));
        this.balancer = new Balancer<>(weights, balance, rules, random);
        this.perSecond = perSecond;
        this.permits = permits;
        this.retries = retries;
        arriveLater();
    }

    Balancer<String> balancer() {
        return balancer;
    }

    private void at(long time, Runnable run) {
        events.add(new Event(time, order++, run));
    }

    private void arriveLater() {
        long gap = (long) (-Math.log(1 - random.nextDouble()) / perSecond * 1e9);
        at(now + gap, () -> {
            queue.add(new long[] {now});
            admit();
            arriveLater();
        });
    }

    private void admit() {
        while (permits > 0 && !queue.isEmpty()) {
            permits--;
            if (now - queue.remove(0)[0] > 1_000_000_000) {
                sums.waitedLong++;
            }
            send(new HashSet<>());
        }
    }

    private void send(Set<String> tried) {
        Balancer.Use<String> use = balancer.choose(tried, null, now);
        if (use == null) {
            done(false);
            return;
        }
        String instance = use.instance();
        tried.add(instance);
        sums.sent.merge(instance, 1, Integer::sum);
        Reply reply = Objects.requireNonNull(replies.get(instance)).apply(now);
        at(now + reply.nanos(), () -> {
            Balancer.Change<String> change = balancer.report(use, reply.outcome(), now);
            if (change != null) {
                changes.add("%.1f %s %.1f".formatted(now / 1e9, change.instance(), change.aside() / 1e9));
            }
            balancer.end(use);
            if (reply.outcome() == Outcome.UNREACHABLE && tried.size() <= retries) {
                send(tried);
            } else {
                done(reply.outcome() == Outcome.ANSWERED);
            }
        });
    }

    private void done(boolean answered) {
        if (answered) {
            sums.answered++;
        } else {
            sums.failed++;
        }
        permits++;
        admit();
    }

    /** Goes on for a time, and tells what happened in it. */
    Sums run(Duration time) {
        sums = new Sums();
        long until = now + time.toNanos();
        while (Objects.requireNonNull(events.peek()).at() <= until) {
            Event next = events.remove();
            now = next.at();
            next.run().run();
        }
        now = until;
        return sums;
    }
}
