package io.fairgate.spring.fairshare;

import io.fairgate.permit.PermitPool;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import org.springframework.core.io.buffer.DataBuffer;
import reactor.core.CoreSubscriber;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Operators;
import reactor.core.scheduler.Scheduler;
import reactor.util.context.Context;

/**
 * The body of a request that holds permits. It errors with {@link SlowBodyException} when the client pauses for too long, or when it
 * sends too slowly while other requests wait for the pool: then a few clients with slow bodies could keep all permits.
 *
 * <p>Only the time in which the client is asked for more counts. While the upstream takes nothing, the client cannot send. When the
 * upstream has begun to answer, both sides may talk as they like, as a stream of gRPC does. Most bodies are there as a whole when
 * they are asked for, and need no timer.
 */
final class PacedBody extends Flux<DataBuffer> {

    /**
     * How fast a body must come.
     *
     * @param pauseNanos the longest time without a byte; 0 for any
     * @param bytesPerSecond on average of {@link #WINDOW_SECONDS}, while other requests wait; 0 for any
     */
    record Pace(long pauseNanos, long bytesPerSecond) {}

    /** A client that sends in bursts, or loses a packet, must not look slow. */
    static final int WINDOW_SECONDS = 10;

    private static final long WINDOW_NANOS = TimeUnit.SECONDS.toNanos(WINDOW_SECONDS);

    private final Flux<DataBuffer> body;
    private final Pace pace;
    private final PermitPool pool;
    private final BooleanSupplier isAnswered;
    private final Executor loop;
    private final Scheduler time;

    private PacedBody(
            Flux<DataBuffer> body,
            Pace pace,
            PermitPool pool,
            BooleanSupplier isAnswered,
            Executor loop,
            Scheduler time) {
        this.body = body;
        this.pace = pace;
        this.pool = pool;
        this.isAnswered = isAnswered;
        this.loop = loop;
        this.time = time;
    }

    /**
     * @param isAnswered whether the upstream has begun to answer
     * @param loop on which the parts of the body come
     */
    static Flux<DataBuffer> of(
            Flux<DataBuffer> body,
            Pace pace,
            PermitPool pool,
            BooleanSupplier isAnswered,
            Executor loop,
            Scheduler time) {
        return pace.pauseNanos() == 0 && pace.bytesPerSecond() == 0
                ? body
                : new PacedBody(body, pace, pool, isAnswered, loop, time);
    }

    @Override
    public void subscribe(CoreSubscriber<? super DataBuffer> reader) {
        body.subscribe(new Reading(reader));
    }

    /** All but {@link #request} and {@link #cancel} runs on the event loop. */
    private final class Reading implements CoreSubscriber<DataBuffer>, Subscription {

        private static final AtomicLongFieldUpdater<Reading> ASKED =
                AtomicLongFieldUpdater.newUpdater(Reading.class, "asked");
        private static final AtomicIntegerFieldUpdater<Reading> OVER =
                AtomicIntegerFieldUpdater.newUpdater(Reading.class, "over");

        private final CoreSubscriber<? super DataBuffer> reader;
        private @Nullable Subscription source;
        /** Parts that the upstream would take now; it is the client's turn while there are any. */
        private volatile long asked;

        @SuppressWarnings("UnusedVariable") // Its updater uses it.
        private volatile int over;

        private volatile Disposable timer = Disposables.disposed();
        /** When the client's turn began. */
        private volatile long turnBegan;
        /** That, or when its latest part came. */
        private volatile long since;

        private long windowBegan;
        private long bytesInWindow;

        Reading(CoreSubscriber<? super DataBuffer> reader) {
            this.reader = reader;
        }

        private long now() {
            return time.now(TimeUnit.NANOSECONDS);
        }

        @Override
        public void onSubscribe(Subscription subscription) {
            source = subscription;
            reader.onSubscribe(this);
            // The reader has asked by now, and got what was there.
            if (over == 0) {
                since = now();
                beginWindow();
                arm();
            }
        }

        @Override
        public void request(long n) {
            if (Operators.addCap(ASKED, this, n) == 0) {
                turnBegan = now();
                since = turnBegan;
            }
            Subscription asking = source;
            if (asking != null) {
                asking.request(n);
            }
        }

        @Override
        public void onNext(DataBuffer part) {
            since = now();
            bytesInWindow += part.readableByteCount();
            Operators.produced(ASKED, this, 1);
            reader.onNext(part);
        }

        /** A window does not begin before the client's turn. */
        private long windowAge(long now) {
            return Math.min(now - windowBegan, now - turnBegan);
        }

        private void beginWindow() {
            windowBegan = now();
            bytesInWindow = 0;
        }

        private boolean end() {
            boolean isFirst = OVER.compareAndSet(this, 0, 1);
            timer.dispose();
            return isFirst;
        }

        @Override
        public void onComplete() {
            if (end()) {
                reader.onComplete();
            }
        }

        @Override
        public void onError(Throwable failure) {
            if (end()) {
                reader.onError(failure);
            } else {
                Operators.onErrorDropped(failure, currentContext());
            }
        }

        @Override
        public void cancel() {
            end();
            Subscription cancelled = source;
            if (cancelled != null) {
                cancelled.cancel();
            }
        }

        @Override
        public Context currentContext() {
            return reader.currentContext();
        }

        private void arm() {
            long now = now();
            long next = pace.bytesPerSecond() == 0 ? Long.MAX_VALUE : WINDOW_NANOS - windowAge(now);
            if (pace.pauseNanos() > 0) {
                next = Math.min(next, asked == 0 ? pace.pauseNanos() : since + pace.pauseNanos() - now);
            }
            timer = time.schedule(() -> onLoop(this::look), Math.max(1, next), TimeUnit.NANOSECONDS);
            if (over != 0) {
                timer.dispose();
            }
        }

        private void look() {
            if (over != 0 || isAnswered.getAsBoolean()) {
                return;
            }
            long now = now();
            if (asked == 0) {
                beginWindow();
            } else if (pace.pauseNanos() > 0 && now - since >= pace.pauseNanos()) {
                giveUp();
                return;
            } else if (windowAge(now) >= WINDOW_NANOS) {
                if (pace.bytesPerSecond() > 0 && bytesInWindow < pace.bytesPerSecond() * WINDOW_SECONDS) {
                    giveUpIfOthersWait();
                }
                beginWindow();
            }
            arm();
        }

        private void giveUpIfOthersWait() {
            var unused = pool.totals().subscribe(totals -> {
                if (totals.waiting() > 0) {
                    onLoop(this::giveUp);
                }
            });
        }

        private void onLoop(Runnable task) {
            try {
                loop.execute(task);
            } catch (RejectedExecutionException shutDown) {
                // Its connections are closed then.
            }
        }

        private void giveUp() {
            Subscription given = source;
            if (end() && given != null) {
                given.cancel();
                reader.onError(new SlowBodyException());
            }
        }
    }
}
