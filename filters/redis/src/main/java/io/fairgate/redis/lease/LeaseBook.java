package io.fairgate.redis.lease;

import io.fairgate.lease.LeaseCount;
import io.fairgate.lease.LeaseEndedException;
import io.fairgate.lease.LeaseHolder;
import io.fairgate.lease.LeaseId;
import io.fairgate.lease.LeaseIds;
import io.fairgate.lease.LeaseMemory;
import io.fairgate.lease.LeaseTerm;
import io.fairgate.lease.LeasesUnavailableException;
import io.fairgate.lease.WaitingLeases;
import io.fairgate.redis.lease.BookedLease.Wait;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/**
 * The book of leases. Each call is one call of the script, lazy, and errors when there is no answer in time: it may have been executed then.
 * For any thread; answers come on any thread.
 */
final class LeaseBook {

    /** How long a call may take. */
    static final Duration PATIENCE = Duration.ofMillis(300);

    /** How long a gateway counts as live after a call, as in the script. */
    static final Duration LIVE = Duration.ofSeconds(3);

    /** The most by which a gateway's clock is too fast or too slow, as a fraction. */
    private static final double DRIFT = 0.001;

    /** How many records are written again at the same time. */
    private static final int AT_ONCE = 64;

    private static final Mono<List<Object>> NO_ANSWER =
            Mono.error(() -> new TimeoutException("no answer within %d ms".formatted(PATIENCE.toMillis())));

    @SuppressWarnings("StaticAssignmentOfThrowable") // It has no stack trace.
    private static final LeasesUnavailableException RECOVERING = new LeasesUnavailableException(
            new IllegalStateException("Redis has lost writes, and the gateways write again what they know"));

    /** The answers of the script before those of the command. */
    private static final int BEFORE_EXPIRED = 5;

    /** The answers of {@code live} before the mail. */
    private static final int BEFORE_MAIL = 3;

    /**
     * A lease as it is recorded, and the time of that.
     *
     * @param lease null when there is no such lease
     */
    record Found(long clock, @Nullable BookedLease lease) {}

    /**
     * The answer to a change.
     *
     * @param isDone false when the record had been changed before; then nothing has changed now
     * @param found the record as it is now
     */
    record Change(boolean isDone, Found found) {}

    /** The place of a lease that waits. */
    enum Place {
        /** It begins to wait. */
        NEW,
        KEPT,
        /** It goes on to wait in the queue of another pool. */
        MOVED
    }

    /**
     * @param wasKnown false when the book took this gateway for one that has ended, and may have given its leases to others
     * @param mail of this gateway, those of leases that wait in the order of arrival
     */
    record Live(boolean wasKnown, List<Mail> mail) {}

    /**
     * What makes the ids of all gateways the same.
     *
     * @param beganAt when the book began, by the clock of this gateway in nanoseconds
     */
    private record Secret(String text, LeaseIds ids, long beganAt) {
        static Secret of(String text, long beganAt) {
            return new Secret(text, new LeaseIds(Base64.getDecoder().decode(text)), beganAt);
        }
    }

    /**
     * A lease of this gateway was changed or ended by another one.
     *
     * @param text of the book
     */
    record Mail(String text, LeaseId id) {
        private static Mail of(Object text) {
            String all = String.valueOf(text);
            String id = all.substring(all.lastIndexOf('\n') + 1);
            return new Mail(all, Objects.requireNonNull(LeaseId.parse(id)));
        }
    }

    /** The rest of an answer: that of the command. */
    private record Answer(long clock, List<Object> values) {
        String text(int index) {
            return String.valueOf(values.get(index));
        }

        boolean isTrue(int index) {
            return text(index).equals("1");
        }

        int number(int index) {
            return Integer.parseInt(text(index));
        }

        List<LeaseId> ids() {
            return values.stream()
                    .map(id -> Objects.requireNonNull(LeaseId.parse(String.valueOf(id))))
                    .toList();
        }
    }

    /** What the gateway has seen of the book last: when the call was sent, and when the answer came. */
    private record Seen(long epoch, long version, long clock, long sentAt, long at) {
        /** What the book's clock cannot have passed, in milliseconds. A call that takes long on its way makes it slow for a moment, which is safe. */
        long most(long now) {
            return clock + (long) Math.ceil(TimeUnit.NANOSECONDS.toMillis(now - sentAt) * (1 + DRIFT)) + 1;
        }
    }

    private final BookCalls calls;
    private final String gateway;
    private final long failoverMillis;
    private final LatestChanges latest;
    private final Scheduler time;
    private final Consumer<Found> expired;
    private volatile Seen seen;

    /** Null until the book has told it. */
    private volatile @Nullable Secret secret;

    /** For a book that has none. */
    private final String newSecret = Base64.getEncoder().encodeToString(LeaseIds.newSecret());

    /**
     * @param gateway a name that no other gateway has and had
     * @param failover how long a server that was replaced may go on to accept writes
     * @param expired gets each lease that a call of this gateway has ended because it had expired, before the answer of the call
     */
    LeaseBook(BookCalls calls, String gateway, Duration failover, Scheduler time, Consumer<Found> expired) {
        this.calls = calls;
        this.gateway = gateway;
        this.failoverMillis = failover.toMillis();
        this.latest = new LatestChanges(failover, time);
        this.time = time;
        this.expired = expired;
        this.seen = new Seen(0, 0, 0, now(), now());
    }

    String gateway() {
        return gateway;
    }

    /** Grows when the book may have lost writes. */
    long epoch() {
        return seen.epoch();
    }

    /** The time of the book's clock, or a little before; milliseconds. */
    long clock() {
        Seen last = seen;
        return last.clock() + TimeUnit.NANOSECONDS.toMillis(now() - last.at());
    }

    private long now() {
        return time.now(TimeUnit.NANOSECONDS);
    }

    // ---- one lease ----

    Mono<Found> read(LeaseId id) {
        return call("read", id).map(answer -> found(id, answer, 0));
    }

    /** Opens a lease without permits; false when a lease has this id. Errors when one had it that is remembered. */
    Mono<Boolean> open(LeaseId id, LeaseHolder holder, LeaseTerm term) {
        return Mono.defer(
                () -> seen.clock() == 0 ? call("count").then(opened(id, holder, term)) : opened(id, holder, term));
    }

    private Mono<Boolean> opened(LeaseId id, LeaseHolder holder, LeaseTerm term) {
        return Mono.defer(() -> {
            // The book's clock is not before the one that is known here, so the lease ends a little early at the most.
            long now = clock();
            long maxHold = term.maxHold().toMillis();
            long remembered = term.remembered().toMillis();
            BookedLease lease = new BookedLease(
                    id, 0, 0, holder, remembered, gateway, 0, maxHold, now + maxHold, now, List.of(), null, null);
            return call(
                            "open",
                            id,
                            Math.min(term.ttl().toMillis(), maxHold),
                            gateway,
                            holder.tenant().value(),
                            remembered,
                            RecordText.rest(lease))
                    .flatMap(answer -> answer.number(0) == 2
                            ? Mono.error(new LeaseEndedException(id))
                            : Mono.just(answer.isTrue(0)));
        });
    }

    /** Replaces a record, unless it has been changed since it was read. */
    Mono<Change> change(BookedLease to, Place place) {
        return change(to, place, false, 0);
    }

    /** Replaces a record as {@link #change} does. Its permits without a token get a new one, which is larger than {@code above}. */
    Mono<Change> grant(BookedLease to, long above) {
        return change(to, Place.NEW, true, above);
    }

    private Mono<Change> change(BookedLease to, Place place, boolean needsToken, long above) {
        Wait waiting = to.waiting();
        return call(
                        "change",
                        to.id(),
                        to.revision(),
                        to.expires(),
                        to.grants().isEmpty() ? 0 : 1,
                        to.host(),
                        waiting == null ? "" : RecordText.encoded(waiting.pool()),
                        waiting == null ? 0 : waiting.permitsOfPool(),
                        place,
                        needsToken ? 1 : 0,
                        above,
                        gateway,
                        RecordText.rest(to))
                .map(answer -> new Change(answer.isTrue(0), found(to.id(), answer, 1)))
                .doOnNext(change -> {
                    if (change.isDone()) {
                        latest.add(change.found().lease());
                    }
                });
    }

    /** Ends a lease. The lease of the answer is null when there was none. */
    Mono<Found> end(LeaseId id) {
        return end(call("end", id, 1), id);
    }

    /** The same, but its id is not remembered. */
    Mono<Found> forget(LeaseId id) {
        return end(call("end", id, 0), id);
    }

    /** Ends a lease that neither holds permits nor waits. */
    Mono<Found> endUnused(LeaseId id) {
        return call("end", id, 2).map(answer -> found(id, answer, 0));
    }

    private Mono<Found> end(Mono<Answer> call, LeaseId id) {
        return call.map(answer -> found(id, answer, 0)).doOnNext(found -> latest.remove(id));
    }

    /** Remembers the id as that of a lease that has ended, unless there is such a lease. */
    Mono<Void> bury(LeaseId id, TenantId tenant, Duration remembered) {
        return call("bury", id, tenant.value(), remembered.toMillis()).then();
    }

    /** Has the book keep a lease that it may have lost. A later record stays. */
    private Mono<Void> again(BookedLease lease) {
        return call("again", lease.id(), RecordText.whole(lease)).then();
    }

    /**
     * The book may have lost writes: writes what this gateway has changed last, as far back as a failover may go.
     *
     * @param hosted the leases that this gateway hosts, as it knows them
     */
    Mono<Void> again(List<BookedLease> hosted) {
        return Flux.concat(Flux.fromIterable(hosted), Flux.fromIterable(latest.all()))
                .flatMap(this::again, AT_ONCE)
                .then();
    }

    private static Found found(LeaseId id, Answer answer, int from) {
        if (answer.values().size() <= from) {
            return new Found(answer.clock(), null);
        }
        int place = answer.values().size() > from + 1 ? answer.number(from + 1) : 0;
        return new Found(answer.clock(), RecordText.read(id, answer.text(from), place));
    }

    // ---- all leases ----

    Mono<List<LeaseId>> ids() {
        return call("ids").map(answer -> answer.ids());
    }

    Mono<List<LeaseId>> ids(TenantId tenant) {
        return call("ids", tenant.value()).map(answer -> answer.ids());
    }

    Mono<LeaseCount> count() {
        return call("count").map(answer -> new LeaseCount(answer.number(0), answer.number(1), answer.number(2)));
    }

    Mono<Integer> count(TenantId tenant) {
        return call("count", tenant.value()).map(answer -> answer.number(0));
    }

    /** An entry of a queue: pool, tenant, number of arrival, id, permits, since when. The first of each tenant has waited longest. */
    Mono<WaitingLeases> waiting(String pool) {
        return call("waiting", RecordText.encoded(pool)).map(answer -> {
            long permits = 0;
            long longest = 0;
            Set<String> tenants = new HashSet<>();
            for (Object each : answer.values()) {
                String[] entry = String.valueOf(each).split("\n", -1);
                permits += Long.parseLong(entry[4]);
                if (tenants.add(entry[1])) {
                    longest = Math.max(longest, answer.clock() - Long.parseLong(entry[5]));
                }
            }
            return new WaitingLeases(answer.values().size(), permits, TimeUnit.MILLISECONDS.toNanos(longest));
        });
    }

    // ---- this gateway ----

    /**
     * @param read the mail that this gateway has acted upon
     * @param takesLeases whether it takes those of gateways that have ended
     */
    Mono<Live> live(List<Mail> read, boolean takesLeases) {
        return Mono.defer(() -> {
            Secret told = secret;
            List<Object> arguments = new ArrayList<>(List.of(
                    gateway,
                    takesLeases ? 1 : 0,
                    told == null ? newSecret : told.text(),
                    told == null ? "" : TimeUnit.NANOSECONDS.toMillis(now() - told.beganAt())));
            read.forEach(mail -> arguments.add(mail.text()));
            latest.forget();
            return call("live", arguments.toArray()).map(answer -> {
                tell(answer.text(1), answer.text(2));
                return new Live(
                        answer.isTrue(0),
                        answer.values().stream().skip(BEFORE_MAIL).map(Mail::of).toList());
            });
        });
    }

    private void tell(String text, String age) {
        Secret known = secret;
        if (!text.isEmpty() && (known == null || !known.text().equals(text))) {
            secret = Secret.of(text, now() - TimeUnit.MILLISECONDS.toNanos(Long.parseLong(age)));
        }
    }

    /** Errors until the book has answered. */
    Mono<LeaseMemory> memory() {
        return Mono.defer(() -> {
            Secret known = secret;
            return known == null
                    ? Mono.error(RECOVERING)
                    : Mono.just(new LeaseMemory(known.ids(), Duration.ofNanos(now() - known.beganAt())));
        });
    }

    /** This gateway ends, and others may take its leases. */
    Mono<Void> leave() {
        return call("leave", gateway).then();
    }

    // ---- calls ----

    private Mono<Answer> call(String command, Object... arguments) {
        return Mono.defer(() -> {
            Seen last = seen;
            long sentAt = now();
            boolean isFirst = last.clock() == 0;
            List<String> all = new ArrayList<>();
            all.add(""); // a server that does not let scripts read its identity is not told from another one
            all.add(Long.toString(failoverMillis));
            all.add(Long.toString(last.epoch()));
            all.add(Long.toString(last.version()));
            all.add(Long.toString(isFirst ? 0 : last.most(sentAt)));
            all.add(command);
            for (Object each : arguments) {
                all.add(String.valueOf(each));
            }
            return calls.call(all)
                    .timeout(PATIENCE, NO_ANSWER, time)
                    .onErrorMap(LeasesUnavailableException::new)
                    .map(answer -> answered(answer, sentAt));
        });
    }

    private Answer answered(List<Object> answer, long sentAt) {
        long clock = number(answer, 2);
        saw(new Seen(number(answer, 0), number(answer, 1), clock, sentAt, now()));
        int from = BEFORE_EXPIRED + 2 * (int) number(answer, 4);
        for (int i = BEFORE_EXPIRED; i < from; i += 2) {
            LeaseId id = Objects.requireNonNull(LeaseId.parse(String.valueOf(answer.get(i))));
            expired.accept(new Found(clock, RecordText.read(id, String.valueOf(answer.get(i + 1)), 1)));
        }
        if (number(answer, 3) == 1) {
            throw RECOVERING;
        }
        return new Answer(clock, answer.subList(from, answer.size()));
    }

    private synchronized void saw(Seen now) {
        Seen last = seen;
        if (now.epoch() > last.epoch() || (now.epoch() == last.epoch() && now.clock() >= last.clock())) {
            seen = new Seen(
                    now.epoch(),
                    now.epoch() == last.epoch() ? Math.max(now.version(), last.version()) : now.version(),
                    now.clock(),
                    now.sentAt(),
                    now.at());
        }
    }

    private static long number(List<Object> answer, int index) {
        return Long.parseLong(String.valueOf(answer.get(index)));
    }
}
