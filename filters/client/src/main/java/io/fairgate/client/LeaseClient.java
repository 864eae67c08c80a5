package io.fairgate.client;

import java.net.URI;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.DoubleSupplier;
import java.util.function.Function;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.core.scheduler.Scheduler;

/**
 * Takes permits of a gateway's pools, for work that is not a request that the gateway forwards. Thread-safe; one client is
 * enough for a program.
 *
 * <p><b>Laziness.</b> Nothing is sent before the subscription, and each subscription acquires a lease of its own.
 *
 * <p><b>Waiting.</b> Until {@link LeaseOptions#maxWait} is over, the client waits at the server, in calls of up to 30 seconds
 * that keep one place in the queue, also when an answer is lost. After a temporary refusal (429, 5xx) it asks again within
 * that time, not before the server's {@code Retry-After} and up to a quarter of it later; when that would be too late, the
 * refusal is the result at once. Any other refusal is a {@link LeaseException} at once. The client also waits for the last
 * answer, and releases what was begun before it signals an error, so the whole may take about 10 seconds longer.
 *
 * <p><b>Holding.</b> After a third of the time to live that the server granted, a lease is extended in the background, one
 * call at a time; a failed extension is repeated until the lease is lost. The lease is lost when its time, counted from the
 * <em>sending</em> of the last call that succeeded, is over but for a margin: no other holder can have the permits by then.
 * When the server was restarted and no longer knows the lease, the client sends the receipt that it got with the lease, and
 * the lease continues with a larger {@linkplain Lease#token fencing token}. If the server issues no receipts, or rejects this
 * one, the lease waits for permits like any other; if it does not get them before its time is over, it is lost.
 *
 * <p><b>Cancellation</b> gives everything back: the lease, the place in the queue, and what the server may have done for a
 * call that it has not answered yet. That takes up to 5 seconds in the background. What could not be given back by then,
 * because the server could not be reached, is not extended and expires.
 *
 * <p><b>Threads.</b> A lease is emitted, and a work subscribed, on the threads of {@link LeaseClientSettings#time} (by default
 * {@code Schedulers.parallel()}). Losses and errors come on an event loop or a timer's thread. None of them may be blocked.
 */
public final class LeaseClient implements AutoCloseable {

    private final Transport transport;
    private final LeaseApi api;

    LeaseClient(Transport transport, Scheduler time, DoubleSupplier chance) {
        this.transport = transport;
        this.api = new LeaseApi(transport, time, chance);
    }

    /** A client of a server that needs no credential. */
    public static LeaseClient to(URI uri) {
        return to(LeaseClientSettings.at(uri));
    }

    /** Connects with the first call. */
    public static LeaseClient to(LeaseClientSettings settings) {
        return new LeaseClient(
                new HttpTransport(settings),
                settings.time(),
                () -> ThreadLocalRandom.current().nextDouble());
    }

    /**
     * Waits for a lease and emits it to the subscriber, which must release it. Until then the lease is extended, at most for
     * as long as the pool allows ({@code lease.max-hold}).
     *
     * <p>Emits once and completes, or errors with {@link LeaseException}. Cancelling gives the lease back, <em>also after it
     * was emitted</em>, so a downstream operator may drop it, and may be cancelled at any time. It also means that an
     * operator that cancels after its first element, such as {@link Flux#next}, ends the lease. Cancelling does not wait for
     * what was begun with the lease; {@link #withLease} does, so use that where there is a work to wrap.
     */
    public Mono<Lease> acquire(LeaseOptions options) {
        return Mono.defer(() -> {
            KeyedAcquisition acquisition = new KeyedAcquisition(api, options);
            // Also runs after the emission: an operator that drops an element on cancellation (reactor-core issue 3695)
            // also cancels its source, so no lease is lost.
            return acquisition.lease().doOnCancel(() -> acquisition.release().subscribe());
        });
    }

    /**
     * Runs a work while holding a lease, from before its subscription until its end.
     *
     * <p>The work's value, completion or error is passed on when the server has answered the release, or could not be reached
     * within 5 seconds; a release that fails does not change the result. When the lease is lost, the work is cancelled, and
     * the result is a {@link LeaseLostException} at once, before the permits can be granted to another holder. Errors with
     * {@link LeaseException} when no lease was granted; the work is not created then.
     *
     * <p>What must be over before another holder works belongs before the work's last signal, as with {@code Mono.using} and
     * {@code doOnTerminate}. {@code doFinally} runs after that signal, when the release may have been sent.
     *
     * <p>Cancelling cancels the work, then releases. While the work is being created or subscribed on another thread, the
     * release also waits until that has returned: until then the work may already be using the permits.
     *
     * @param work creates the work from the lease, whose {@linkplain Lease#token token} it may need
     */
    public <T> Mono<T> withLease(LeaseOptions options, Function<Lease, ? extends Mono<T>> work) {
        return this.<T>withLeaseMany(options, work).singleOrEmpty();
    }

    /** Like {@link #withLease}, for a work of many elements. Completion and error wait for the release. */
    public <T> Flux<T> withLeaseMany(LeaseOptions options, Function<Lease, ? extends Publisher<T>> work) {
        // Serialized, because the loss of the lease may be signalled while an element is emitted.
        return Flux.from(subscriber -> new WithLeaseSubscriber<T>(
                        new KeyedAcquisition(api, options),
                        work,
                        Operators.serialize(Operators.toCoreSubscriber(subscriber)))
                .start());
    }

    /**
     * Closes the connections. Calls that wait end with an error, and leases that are held can no longer be released or
     * extended: end all work before.
     */
    @Override
    public void close() {
        transport.close();
    }
}
