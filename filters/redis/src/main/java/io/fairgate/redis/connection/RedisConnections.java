package io.fairgate.redis.connection;

import io.fairgate.time.MonotonicScheduler;
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

/**
 * The connections of one process to Redis: one for commands, and one on which messages come.
 *
 * <p>They are made when they are first needed, and Lettuce makes them again when they were lost. While there is none, a command errors
 * at once. New ones, which may lead to another server, are made when
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
    static final Duration LONGEST_SILENCE = Duration.ofSeconds(2);

    private final RedisDriver driver;
    private final Scheduler time;
    private final Map<String, Runnable> listeners = new ConcurrentHashMap<>();

    /** The connections, or their making; null when there are none. */
    private volatile @Nullable Mono<Connected> current;

    private volatile boolean isClosed;

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
                        .doOnSuccess(answer -> connected.answered())
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

    /** An ACL may forbid it: then no message comes. */
    private static void subscribe(Connected connected, String channel) {
        var unused = connected.messages().reactive().subscribe(channel).subscribe(done -> {}, failed -> {});
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
        Mono<Connected> made = driver.connect().cache();
        current = made;
        // With a subscriber of its own, so that a caller that no longer waits does not end it.
        var unused = made.subscribe(this::begun, failed -> forget(made));
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

    private synchronized void forget(Mono<Connected> made) {
        if (current == made) {
            current = null;
        }
    }

    private void notAnswered(Connected connected) {
        long now = time.now(TimeUnit.NANOSECONDS);
        if (connected.silentFor(now) > LONGEST_SILENCE.toNanos()) {
            giveUp(connected);
        }
    }

    private void failed(Connected connected, Throwable error) {
        if (error instanceof RedisReadOnlyException) {
            giveUp(connected);
        } else {
            connected.answered();
        }
    }

    private void giveUp(Connected connected) {
        if (connected.giveUp()) {
            Mono<Connected> now = current;
            if (now != null) {
                forget(now);
            }
            connected.close().run();
        }
    }

    /** Ends the connections and their threads. */
    @Override
    public void close() {
        isClosed = true;
        onMessages(connected -> connected.close().run());
        driver.close();
    }
}
