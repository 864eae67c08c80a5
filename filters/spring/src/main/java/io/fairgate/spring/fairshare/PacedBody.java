package io.fairgate.spring.fairshare;

import io.fairgate.permit.PermitPool;
import io.netty.channel.EventLoop;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferUtils;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/**
 * The body of a request that holds permits. It errors with {@link SlowBodyException} when the client pauses for too long, or when it
 * sends too slowly while the pool is full: otherwise a few clients with slow bodies could keep all permits.
 *
 * <p>Only the time in which the client is asked for more counts. While the upstream takes nothing, the client cannot send. When the
 * upstream has begun to answer, both sides may talk as they like, as a stream of gRPC does. Most bodies are there as a whole when
 * they are asked for, and need no timer.
 */
final class PacedBody extends Flux<DataBuffer> {

    /**
     * How fast a body must come.
     *
     * @param pauseNanos the longest time without a byte; 0 for no limit
     * @param bytesPerSecond on average of {@link #WINDOW_SECONDS}, while the pool is full; 0 for no limit
     */
    record Pace(long pauseNanos, long bytesPerSecond) {

        boolean hasNoLimit() {
            return pauseNanos == 0 && bytesPerSecond == 0;
        }
    }

    /** A client that sends in bursts, or loses a packet, must not look slow. */
    static final int WINDOW_SECONDS = 10;

    private static final long WINDOW_NANOS = TimeUnit.SECONDS.toNanos(WINDOW_SECONDS);

    /** Between two looks at a body. It may be so long unnoticed that the client may send, or may not. */
    private static final long MOST_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final long LEAST_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private final Flux<DataBuffer> body;
    private final Pace pace;
    private final PermitPool pool;
    private final BooleanSupplier mustSend;
    private final EventLoop loop;

    /**
     * @param mustSend whether the client can send, and has to; asked on the event loop
     * @param loop the event loop of the client's connection
     */
    PacedBody(Flux<DataBuffer> body, Pace pace, PermitPool pool, BooleanSupplier mustSend, EventLoop loop) {
        this.body = body;
        this.pace = pace;
        this.pool = pool;
        this.mustSend = mustSend;
        this.loop = loop;
    }

    @Override
    public void subscribe(CoreSubscriber<? super DataBuffer> reader) {
        // The limits are looked at on the event loop; a body that was read ahead may come on another thread.
        body.subscribe(new Reading(Operators.serialize(reader)));
    }

    private final class Reading implements CoreSubscriber<DataBuffer>, Subscription {

        private static final AtomicLongFieldUpdater<Reading> ASKED =
                AtomicLongFieldUpdater.newUpdater(Reading.class, "asked");
        private static final AtomicIntegerFieldUpdater<Reading> OVER =
                AtomicIntegerFieldUpdater.newUpdater(Reading.class, "over");

        private final CoreSubscriber<? super DataBuffer> reader;
        private volatile @Nullable Subscription source;
        /** Parts that the upstream would take now; the client has to send while there are any. */
        private volatile long asked;

        @SuppressWarnings("UnusedVariable") // Its updater uses it.
        private volatile int over;

        private volatile @Nullable Future<?> timer;
        /** When the client was asked again after it was not, or when its latest part came. */
        private volatile long since;

        /** When the client was asked again after it was not. */
        private volatile long askedSince;
        /** The time of the window in which the client was asked, before {@link #askedSince}. */
        private volatile long askedBefore;

        private volatile long bytesInWindow;

        Reading(CoreSubscriber<? super DataBuffer> reader) {
            this.reader = reader;
        }

        private long now() {
            return loop.ticker().nanoTime();
        }

        @Override
        public void onSubscribe(Subscription subscription) {
            source = subscription;
            reader.onSubscribe(this);
            // The reader has asked by now, and got what was there.
            if (over == 0 && subscription != Operators.emptySubscription()) {
                arm(now());
            }
        }

        @Override
        public void request(long n) {
            if (asked == 0) { // Before it is asked: the event loop may look at any time.
                askedSince = now();
                since = askedSince;
            }
            Operators.addCap(ASKED, this, n);
            Subscription asking = source;
            if (asking != null) {
                asking.request(n);
            }
        }

        @Override
        @SuppressWarnings("NonAtomicVolatileUpdate") // Parts come one after the other, and only the looks read these.
        public void onNext(DataBuffer part) {
            if (over != 0) {
                DataBufferUtils.release(part);
                return;
            }
            since = now();
            bytesInWindow += part.readableByteCount();
            if (Operators.produced(ASKED, this, 1) == 0) {
                askedBefore += since - askedSince;
            }
            reader.onNext(part);
        }

        private boolean end() {
            boolean isFirst = OVER.compareAndSet(this, 0, 1);
            Future<?> armed = timer;
            if (armed != null) {
                armed.cancel(false);
            }
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

        // ---- on the event loop ----

        private void arm(long now) {
            long untilPause = pace.pauseNanos() - (now - since);
            long next = pace.pauseNanos() == 0 || asked == 0 ? MOST_NANOS : Math.min(untilPause, MOST_NANOS);
            try {
                timer = loop.schedule(this::look, Math.max(LEAST_NANOS, next), TimeUnit.NANOSECONDS);
            } catch (RejectedExecutionException shutDown) {
                return; // Its connections are closed then.
            }
            if (over != 0) {
                end();
            }
        }

        private long askedInWindow(long now) {
            return askedBefore + (asked == 0 ? 0 : now - askedSince);
        }

        private void beginWindow(long now) {
            bytesInWindow = 0;
            askedBefore = 0;
            askedSince = now;
        }

        private void look() {
            if (over != 0) {
                return;
            }
            long now = now();
            if (!mustSend.getAsBoolean()) {
                since = now;
                beginWindow(now);
            } else if (asked > 0 && pace.pauseNanos() > 0 && now - since >= pace.pauseNanos()) {
                giveUp();
                return;
            } else if (askedInWindow(now) >= WINDOW_NANOS) {
                if (bytesInWindow < pace.bytesPerSecond() * WINDOW_SECONDS) {
                    giveUpIfFull();
                }
                beginWindow(now);
            }
            arm(now);
        }

        /**
         * Not only if requests wait: others may have been refused, or wait at another gateway. Requests that wait may need more permits
         * than are free.
         */
        private void giveUpIfFull() {
            var unused = pool.totals().onErrorComplete().subscribe(totals -> {
                if (totals.inFlight() >= totals.permits() || totals.waiting() > 0) {
                    loop.execute(this::giveUp);
                }
            });
        }

        private void giveUp() {
            Subscription given = source;
            if (mustSend.getAsBoolean() && end() && given != null) {
                given.cancel();
                reader.onError(new SlowBodyException());
            }
        }
    }
}
