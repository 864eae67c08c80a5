package io.fairgate.client;

import java.net.URI;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.DoubleSupplier;
import java.util.function.Function;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/**
 * Takes permits of a gateway's pools, for work that is not a request which the gateway forwards. Thread-safe; one for a
 * program will do.
 *
 * <p><b>Laziness.</b> Nothing is sent before the subscription, and each subscription is a lease of its own.
 *
 * <p><b>Waiting.</b> Until {@link LeaseOptions#maxWait} is over it waits at the server, in calls of up to 30 seconds that
 * keep one place in the queue, also when an answer is lost on the way. What is refused for now (429, 503) is asked for
 * again within that time, not before the server's {@code Retry-After} and up to a quarter of it later; when that would be too
 * late, the refusal is the result at once. Anything else is a {@link LeaseException} at once. As the last answer is waited
 * for as well, and what was begun is given back before an error is told, all may take some 10 seconds more.
 *
 * <p><b>Holding.</b> After a third of its time to live, as the server told it, a lease is extended in the background, one
 * call at a time, and on failure again and again until it is lost. It is lost when, counted from the <em>sending</em> of the last
 * call that succeeded, its time is over but for a margin: nobody else can have got the permits by then. When the server
 * was started anew and knows the lease no more, the client shows the receipt that it got with the lease, and the lease goes on
 * with a larger {@linkplain Lease#token fencing token}. A server that gives out no receipts, or does not believe this one, has
 * the lease wait for permits like any other; if it does not get them before its time is over, it is lost.
 *
 * <p><b>Cancellation</b> gives back whatever there is: the lease, the place in the queue, and what the server may have done on
 * a call that it has not answered yet. That takes up to 5 seconds in the background; what could not be given back by
 * then, because the server could not be reached, is not extended and expires.
 *
 * <p><b>Threads.</b> A lease is emitted, and a work subscribed, on the time's own threads ({@link LeaseServer#time}; if not told
 * otherwise {@code Schedulers.parallel()}). Losses and errors come on an event loop or a timer's thread. None of them may be blocked.
 */
public final class LeaseClient implements AutoCloseable {

    private final Transport transport;
    private final LeaseCalls calls;

    LeaseClient(Transport transport, Scheduler time, DoubleSupplier chance) {
        this.transport = transport;
        this.calls = new LeaseCalls(transport, time, new Pauses(chance));
    }

    /** To a server that needs no credential. */
    public static LeaseClient to(URI uri) {
        return to(LeaseServer.at(uri));
    }

    /** Connects when something is asked for. */
    public static LeaseClient to(LeaseServer server) {
        return new LeaseClient(
                new HttpTransport(server),
                server.time(),
                () -> ThreadLocalRandom.current().nextDouble());
    }

    /**
     * Waits for a lease and hands it over to the subscriber, who has to release it. Until then it is extended, at most for as
     * long as the pool lets anybody hold ({@code lease.max-hold}).
     *
     * <p>It emits once and completes, or errors with {@link LeaseException}. Cancelling gives the lease back, <em>also after
     * it was emitted</em>: so what is downstream may drop it, and may be cancelled at any time. It also means that an
     * operator that cancels after its first element, such as {@link Flux#next}, ends the lease. It does not wait for what
     * was begun with the lease; {@link #withLease} does, so use that where there is a work to wrap.
     */
    public Mono<Lease> acquire(LeaseOptions options) {
        return new HandOver(calls, options);
    }

    /**
     * Runs a work while holding a lease, from before its subscription until its end.
     *
     * <p>The work's value, completion or error is passed on when the server has answered the release, or could not be reached
     * within 5 seconds; a release that fails changes nothing about the result. When the lease is lost, the work is cancelled,
     * and the result is a {@link LeaseLostException} at once, before the permits can be granted to another holder. Errors
     * with {@link LeaseException} when there was no lease to be had; the work is not made then.
     *
     * <p>What must be over before another holder works belongs before the work's last signal, as {@code Mono.using} and {@code
     * doOnTerminate} do it. {@code doFinally} runs after that signal, when the release may have been sent.
     *
     * <p>Cancelling cancels the work, then releases. While the work is being made or subscribed on another thread, the release
     * waits until that has returned as well: until then the work may be doing something under the permits.
     *
     * @param work from the lease, whose {@linkplain Lease#token token} it may need
     */
    public <T> Mono<T> withLease(LeaseOptions options, Function<Lease, ? extends Mono<T>> work) {
        return new FluxWithLease<T>(calls, options, work).singleOrEmpty();
    }

    /**
     * As {@link #withLease}, for a work of many elements. They are passed on as they come; completion and error are what waits
     * for the release.
     */
    public <T> Flux<T> withLeaseMany(LeaseOptions options, Function<Lease, ? extends Publisher<T>> work) {
        return new FluxWithLease<>(calls, options, work);
    }

    /**
     * Closes the connections. What waits ends with an error, and what is held cannot be released or extended any more: end
     * all work before.
     */
    @Override
    public void close() {
        transport.close();
    }
}
