package io.fairgate.redis.connection;

import io.lettuce.core.api.reactive.RedisScriptingReactiveCommands;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/** Connections that were made at the same time, and whether they answer. For any thread. */
final class Connected {

    private static final long NOT_SILENT = Long.MIN_VALUE;

    private final RedisScriptingReactiveCommands<String, String> commands;
    private final StatefulRedisPubSubConnection<String, String> messages;
    private final Runnable close;
    private final AtomicLong silentSince = new AtomicLong(NOT_SILENT);
    private final AtomicBoolean isGivenUp = new AtomicBoolean();

    Connected(
            RedisScriptingReactiveCommands<String, String> commands,
            StatefulRedisPubSubConnection<String, String> messages,
            Runnable close) {
        this.commands = commands;
        this.messages = messages;
        this.close = close;
    }

    RedisScriptingReactiveCommands<String, String> commands() {
        return commands;
    }

    StatefulRedisPubSubConnection<String, String> messages() {
        return messages;
    }

    Runnable close() {
        return close;
    }

    void answered() {
        silentSince.set(NOT_SILENT);
    }

    /**
     * How long no command has been answered, from the first one that was given up; to be called when one is given up.
     *
     * @param now in nanoseconds
     */
    long silentFor(long now) {
        return silentSince.compareAndSet(NOT_SILENT, now) ? 0 : now - silentSince.get();
    }

    boolean isGivenUp() {
        return isGivenUp.get();
    }

    /** True the first time. */
    boolean giveUp() {
        return isGivenUp.compareAndSet(false, true);
    }
}
