package io.fairgate.redis.connection;

import io.fairgate.time.MonotonicScheduler;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisReadOnlyException;
import io.lettuce.core.api.reactive.RedisScriptingReactiveCommands;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.util.retry.Retry;

/**
 * The connections of one process to Redis: one for commands, and one on which messages come.
 *
 * <p>The first command makes them. When a connection is lost, Lettuce connects again; until then, each command errors at once. After an
 * attempt that failed, the next one waits for up to {@link #LONGEST_PAUSE}. New connections, which may lead to another server, replace the
 * old ones when
 *
 * <ul>
 *   <li>nothing has answered for {@link #LONGEST_SILENCE}: the other end may be gone without a word, or
 *   <li>the server takes no writes, because another one is the master now.
 * </ul>
 *
 * <p>For any thread. Nothing blocks, except {@link #close}.
 */
public final class RedisConnections implements AutoCloseable {

    /** How long commands may be without an answer before their connection is given up. */
    static final Duration LONGEST_SILENCE = Duration.ofMillis(600);

    private static final Duration FIRST_PAUSE = Duration.ofMillis(100);
    static final Duration LONGEST_PAUSE = Duration.ofSeconds(2);

    private static final Duration BEFORE_NEXT_SUBSCRIBE = Duration.ofSeconds(1);

    private final RedisDriver driver;
    private final Scheduler time;
    private final Map<String, Runnable> listeners = new ConcurrentHashMap<>();

    /** The connections, or their making; null when there are none. */
    private volatile @Nullable Mono<Connected> current;

    private volatile boolean isClosed;

    /** The failure of the last attempt; null after an answer. */
    private volatile @Nullable Throwable lastFailure;

    /** Between an attempt that failed and the next one, and when that may begin; guarded by this. */
    private Duration pause = Duration.ZERO;

    private long notBefore;

    /** Connects to nothing yet. */
    public RedisConnections(RedisAddress address) {
        this(new LettuceDriver(address), MonotonicScheduler.INSTANCE);
    }

    RedisConnections(RedisDriver driver, Scheduler time) {
        this.driver = driver;
        this.time = time;
    }

    /** Sends what {@code command} says, each time it is subscribed to. A caller that waits no longer cancels it. */
    public <T> Mono<T> call(Function<RedisScriptingReactiveCommands<String, String>, Mono<T>> command) {
        return Mono.defer(() -> connected()
                .flatMap(connected -> command.apply(connected.commands())
                        .doOnSuccess(answer -> answered(connected))
                        .doOnError(error -> failed(connected, error))
                        .doOnCancel(() -> notAnswered(connected))));
    }

    /**
     * Has {@code listener} called for each message in the channel, on any thread, until this is disposed. Messages that come while
     * there is no connection are lost. Only one listener for each channel.
     */
    public Disposable listen(String channel, Runnable listener) {
        listeners.put(channel, listener);
        onMessages(connected -> subscribe(connected, channel));
        return () -> {
            if (listeners.remove(channel, listener)) {
                onMessages(connected -> unsubscribe(connected, channel));
            }
        };
    }

    private void onMessages(Consumer<Connected> action) {
        Mono<Connected> now = current;
        if (now != null) {
            var unused = now.subscribe(action, failed -> {});
        }
    }

    /** An ACL may forbid it: then no message comes. Lettuce repeats only what was subscribed once. */
    private void subscribe(Connected connected, String channel) {
        var unused = connected
                .messages()
                .reactive()
                .subscribe(channel)
                .retryWhen(Retry.fixedDelay(Long.MAX_VALUE, BEFORE_NEXT_SUBSCRIBE)
                        .filter(error -> !(error instanceof RedisCommandExecutionException)
                                && !connected.isGivenUp()
                                && listeners.containsKey(channel)))
                .subscribe(done -> {}, failed -> {});
    }

    private static void unsubscribe(Connected connected, String channel) {
        var unused = connected.messages().reactive().unsubscribe(channel).subscribe(done -> {}, failed -> {});
    }

    private Mono<Connected> connected() {
        Mono<Connected> now = current;
        return now != null ? now : begin();
    }

    private synchronized Mono<Connected> begin() {
        Mono<Connected> now = current;
        if (now != null) {
            return now;
        }
        if (isClosed) {
            return Mono.error(new IllegalStateException("the connections to Redis are closed"));
        }
        Throwable failure = lastFailure;
        if (failure != null && now() - notBefore < 0) {
            return Mono.error(failure);
        }
        Mono<Connected> made = driver.connect().cache();
        current = made;
        // A caller that no longer waits does not end it: cache() never cancels its source.
        var unused = made.subscribe(this::begun, this::notBegun);
        return made;
    }

    private void begun(Connected connected) {
        connected.messages().addListener(new RedisPubSubAdapter<>() {
            @Override
            public void message(String channel, String message) {
                Runnable listener = listeners.get(channel);
                if (listener != null) {
                    listener.run();
                }
            }
        });
        listeners.keySet().forEach(channel -> subscribe(connected, channel));
        if (isClosed) {
            connected.close().run();
        }
    }

    private synchronized void notBegun(Throwable failure) {
        current = null;
        pause(failure);
    }

    private void pause(Throwable failure) {
        lastFailure = failure;
        pause = pause.isZero() ? FIRST_PAUSE : pause.multipliedBy(2);
        pause = pause.compareTo(LONGEST_PAUSE) > 0 ? LONGEST_PAUSE : pause;
        notBefore = now() + pause.toNanos();
    }

    private long now() {
        return time.now(TimeUnit.NANOSECONDS);
    }

    // ---- what becomes of a command ----

    private void answered(Connected connected) {
        connected.answered();
        if (lastFailure != null) {
            noPause();
        }
    }

    private synchronized void noPause() {
        lastFailure = null;
        pause = Duration.ZERO;
    }

    /** An error that Redis has sent is an answer; the others come from this side of the connection. */
    private void failed(Connected connected, Throwable error) {
        if (isFromFormerMaster(error)) {
            giveUp(connected, error);
        } else if (error instanceof RedisCommandExecutionException) {
            connected.answered();
        } else {
            notAnswered(connected);
        }
    }

    private static boolean isFromFormerMaster(Throwable error) {
        String message = String.valueOf(error.getMessage());
        return error instanceof RedisReadOnlyException
                || message.startsWith("NOREPLICAS")
                || message.startsWith("MASTERDOWN");
    }

    private void notAnswered(Connected connected) {
        if (connected.silentFor(now()) > LONGEST_SILENCE.toNanos()) {
            giveUp(connected, null);
        }
    }

    /** @param failure why the next attempt should wait; null when it should not */
    private synchronized void giveUp(Connected connected, @Nullable Throwable failure) {
        if (connected.giveUp()) {
            current = null;
            if (failure != null) {
                pause(failure);
            }
            connected.close().run();
        }
    }

    /** Ends the connections and their threads. */
    @Override
    public void close() {
        isClosed = true;
        onMessages(Connected::giveUp);
        driver.close();
    }
}
