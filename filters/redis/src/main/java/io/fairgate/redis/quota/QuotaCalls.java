package io.fairgate.redis.quota;

import io.fairgate.quota.QuotasUnavailableException;
import io.fairgate.redis.quota.QuotaAnswer.Outcome;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/**
 * Sends calls to the ledger, one batch at a time.
 *
 * <p>While the ledger does not answer, the batch that is not answered is sent again and again, all calls but settlements fail at once,
 * and settlements wait.
 *
 * <p>For any thread. Only {@link #close} blocks. Calls get their answers and failures outside of the lock.
 */
final class QuotaCalls {

    /** The most calls of one batch: the script must not keep Redis busy for long. */
    static final int MOST_CALLS = 100;

    /** With so many calls waiting for a batch, only settlements are added: requests in flight bound them. */
    static final int MOST_WAITING = 10_000;

    /** How long a batch may be without an answer before its calls fail, and how long a call may wait for its batch. */
    static final Duration PATIENCE = Duration.ofSeconds(1);

    /** The same for the first batches, until one is answered: connections are made meanwhile. */
    static final Duration FIRST_PATIENCE = Duration.ofSeconds(5);

    static final Duration FIRST_PAUSE = Duration.ofMillis(50);
    static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);

    /** Redis keeps the answer to the last batch for an hour; until then it is known whether a batch was executed. */
    static final Duration LONGEST_SILENCE = Duration.ofMinutes(30);

    /** How long {@link #close} waits for settlements. */
    private static final Duration AT_THE_END = Duration.ofSeconds(1);

    private final QuotaLedger ledger;
    private final Scheduler time;
    private final String gateway;
    private final QuotaLog report;

    // Guarded by this.
    private final Deque<QuotaCall> waiting = new ArrayDeque<>();
    private long sequence;
    private @Nullable QuotaBatch unanswered;
    private long unansweredSince;
    /** Why the ledger has not answered last; null after an answer. */
    private @Nullable Throwable failure;

    private Duration pause = FIRST_PAUSE;
    private Duration patience = FIRST_PATIENCE;
    private boolean isClosed;
    /** How many batches are answered whose callers are being told. */
    private int telling;

    /**
     * Sends nothing yet.
     *
     * @param gateway a name that no other gateway has or had
     */
    QuotaCalls(QuotaLedger ledger, QuotaLog report, Scheduler time, String gateway) {
        this.ledger = ledger;
        this.report = report;
        this.time = time;
        this.gateway = gateway;
    }

    /** Has the ledger answer, so that the first call finds a connection. */
    void start() {
        QuotaBatch first;
        synchronized (this) {
            first = number(List.of());
        }
        send(first);
    }

    void submit(QuotaCall call) {
        submit(List.of(call));
    }

    /** Sends calls in this order; in one batch, if no others wait. */
    void submit(List<? extends QuotaCall> calls) {
        List<QuotaCall> refused = List.of();
        Throwable lost;
        boolean isTooSlow = false;
        synchronized (this) {
            lost = failure;
            if (lost == null && waiting.size() >= MOST_WAITING) {
                lost = tooMany();
                isTooSlow = true;
            }
            for (QuotaCall call : calls) {
                if (lost == null || call.what.isSettlement()) {
                    call.waitsUntil = now() + patience.toNanos();
                    waiting.addLast(call);
                } else {
                    refused = refused.isEmpty() ? new ArrayList<>() : refused;
                    refused.add(call);
                }
            }
        }
        sendNext();
        if (lost != null && !refused.isEmpty()) {
            if (isTooSlow) {
                report.tooSlow(refused.size());
            }
            fail(refused, lost, false, !isTooSlow);
        }
    }

    private static IllegalStateException tooMany() {
        return new IllegalStateException("%d calls wait for Redis (expected: fewer)".formatted(MOST_WAITING));
    }

    private void sendNext() {
        List<QuotaCall> late = new ArrayList<>();
        QuotaBatch next = next(late);
        if (next != null) {
            send(next);
        }
        if (!late.isEmpty()) {
            report.tooSlow(late.size());
            fail(late, new TimeoutException("waited for %d ms".formatted(PATIENCE.toMillis())), false, false);
        }
    }

    /** @param late gets the calls that have waited for too long */
    private synchronized @Nullable QuotaBatch next(List<QuotaCall> late) {
        if (unanswered != null) {
            return null;
        }
        List<QuotaCall> calls = new ArrayList<>();
        long now = now();
        while (calls.size() < MOST_CALLS && !waiting.isEmpty()) {
            QuotaCall call = waiting.removeFirst();
            if (!call.what.isSettlement() && call.waitsUntil - now < 0) {
                late.add(call);
            } else {
                calls.add(call);
            }
        }
        notifyAll();
        calls.forEach(QuotaCall::sending);
        return calls.isEmpty() ? null : number(calls);
    }

    private QuotaBatch number(List<QuotaCall> calls) {
        QuotaBatch batch = new QuotaBatch(gateway, ++sequence, calls, false);
        unanswered = batch;
        unansweredSince = now();
        return batch;
    }

    private void send(QuotaBatch batch) {
        Duration longest = patience();
        var unused = Mono.defer(() -> ledger.call(batch))
                .single()
                .timeout(longest, Mono.error(() -> noAnswer(longest)), time)
                .subscribe(answers -> answered(batch, answers), error -> failed(batch, error));
    }

    private synchronized Duration patience() {
        return patience;
    }

    private static TimeoutException noAnswer(Duration patience) {
        return new TimeoutException("no answer within %d ms".formatted(patience.toMillis()));
    }

    private void answered(QuotaBatch batch, QuotaAnswers answers) {
        synchronized (this) {
            for (int i = batch.calls().size() - 1; i >= 0; i--) {
                if (isForAnotherWindow(batch, i, answers)) {
                    waiting.addFirst(batch.calls().get(i));
                }
            }
            unanswered = null;
            failure = null;
            pause = FIRST_PAUSE;
            patience = PATIENCE;
            telling++;
        }
        report.answered();
        sendNext();
        for (int i = 0; i < batch.calls().size(); i++) {
            if (!isForAnotherWindow(batch, i, answers)) {
                tell(batch.calls().get(i), answers.each().get(i));
            }
        }
        synchronized (this) {
            telling--;
            notifyAll();
        }
    }

    /** Calls of a repeated batch have failed, except settlements, and are not made any more. */
    private static boolean isForAnotherWindow(QuotaBatch batch, int call, QuotaAnswers answers) {
        boolean isWanted = !batch.isRepeated() || batch.calls().get(call).what.isSettlement();
        return isWanted && answers.each().get(call).outcome() == Outcome.OTHER_WINDOW;
    }

    /** An exception of a caller must not keep the others from their answers. */
    private void tell(QuotaCall call, QuotaAnswer answer) {
        if (answer.outcome() == Outcome.UNREADABLE) {
            report.unreadable(call.keyed.set.toString());
        }
        try {
            call.answered(answer);
        } catch (RuntimeException e) {
            report.fault(e);
        }
    }

    private void fail(List<QuotaCall> calls, Throwable why, boolean isSent, boolean isOutage) {
        QuotasUnavailableException told = new QuotasUnavailableException(why);
        for (QuotaCall call : calls) {
            try {
                call.failed(told, isSent, isOutage);
            } catch (RuntimeException e) {
                report.fault(e);
            }
        }
    }

    private void failed(QuotaBatch batch, Throwable error) {
        List<QuotaCall> sent = new ArrayList<>();
        List<QuotaCall> notSent = new ArrayList<>();
        Duration next;
        boolean isLast;
        synchronized (this) {
            if (!batch.isRepeated()) {
                batch.calls().stream().filter(call -> !call.what.isSettlement()).forEach(sent::add);
            }
            failure = error;
            isLast = isClosed;
            waiting.removeIf(call -> (isClosed || !call.what.isSettlement()) && notSent.add(call));
            next = pause;
            pause = pause.multipliedBy(2).compareTo(LONGEST_PAUSE) < 0 ? pause.multipliedBy(2) : LONGEST_PAUSE;
            notifyAll();
        }
        report.failed(error);
        fail(sent, error, true, true);
        fail(notSent, error, false, true);
        if (isLast) {
            abandon(batch, error);
        } else {
            var unused = time.schedule(() -> sendAgain(batch, error), next.toNanos(), TimeUnit.NANOSECONDS);
        }
    }

    /** After a long silence it is not known any more whether the batch was executed. Then an empty one is sent. */
    private void sendAgain(QuotaBatch batch, Throwable error) {
        @Nullable QuotaBatch next = batch.repeated();
        boolean isOver;
        synchronized (this) {
            isOver = isClosed || now() - unansweredSince >= LONGEST_SILENCE.toNanos();
            if (isClosed) {
                next = null;
            } else if (isOver) {
                next = number(List.of());
            } else {
                unanswered = next;
            }
        }
        if (next != null) {
            send(next);
        }
        if (isOver) {
            abandon(batch, error);
        }
    }

    /** Nothing is known of these calls any more; those that are not settlements have failed before. */
    private void abandon(QuotaBatch batch, Throwable error) {
        List<QuotaCall> settlements =
                batch.calls().stream().filter(call -> call.what.isSettlement()).toList();
        report.abandoned(settlements.size());
        fail(settlements, error, true, true);
        for (QuotaCall call : batch.calls()) {
            if (!call.what.isSettlement()) {
                tell(call, QuotaAnswer.NOT_KNOWN);
            }
        }
    }

    private long now() {
        return time.now(TimeUnit.NANOSECONDS);
    }

    /** Why the ledger has not answered last; null after an answer, and before the first call. */
    @Nullable
    String failure() {
        return report.failure();
    }

    /** Waits a moment for what is on its way. Then nothing is sent again that is not answered. */
    synchronized void close() {
        isClosed = true;
        long end = System.nanoTime() + AT_THE_END.toNanos();
        try {
            for (long left = AT_THE_END.toNanos(); left > 0 && isBusy(); left = end - System.nanoTime()) {
                TimeUnit.NANOSECONDS.timedWait(this, left);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean isBusy() {
        return failure == null && (unanswered != null || telling > 0 || !waiting.isEmpty());
    }
}
