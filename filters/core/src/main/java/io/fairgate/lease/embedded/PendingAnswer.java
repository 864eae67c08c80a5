package io.fairgate.lease.embedded;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import reactor.core.Scannable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;

/** The answer of one acquisition, for the calls that wait for it. The first answer counts. */
final class PendingAnswer {

    /**
     * The most calls that wait for one acquisition. A client that repeats a call has mostly lost the call before; and all
     * waiting calls are answered on the thread that released the permits, so that many of them would delay a pool.
     */
    private static final int MOST_CALLERS = 4;

    private final Sinks.One<Boolean> answer = Sinks.one();
    /** The calls that wait, in their order, each with what ends its wait early. Guarded by itself. */
    private final Deque<Sinks.One<Boolean>> callers = new ArrayDeque<>(1);

    void complete(boolean isHeld) {
        answer.tryEmitValue(isHeld);
    }

    void fail(Throwable why) {
        answer.tryEmitError(why);
    }

    /** Completes when the answer is known. */
    Mono<Void> known() {
        return answer.asMono().then().onErrorComplete();
    }

    /** Emits the answer, or false when it is not known after {@code wait} or other calls take the place of this one. */
    Mono<Boolean> within(Duration wait, Scheduler time) {
        if (wait.isZero() || answer.scanOrDefault(Scannable.Attr.TERMINATED, false)) {
            return Mono.firstWithSignal(answer.asMono(), Mono.just(false));
        }
        Sinks.One<Boolean> displaced = Sinks.one();
        Sinks.One<Boolean> oldest;
        synchronized (callers) {
            callers.addLast(displaced);
            oldest = callers.size() > MOST_CALLERS ? callers.removeFirst() : null;
        }
        if (oldest != null) {
            oldest.tryEmitValue(false);
        }
        return Mono.firstWithSignal(answer.asMono(), displaced.asMono())
                .timeout(wait, Mono.just(false), time)
                .doFinally(end -> {
                    synchronized (callers) {
                        callers.remove(displaced);
                    }
                });
    }
}
