package io.fairgate.redis.connection;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.sync.RedisCommands;
import java.io.IOException;
import java.io.UncheckedIOException;

/** One server for all tests of this JVM that bring their own clock; it ends with the JVM. */
public final class SharedRedis {

    private static final RedisCommands<String, String> COMMANDS = connect();

    private SharedRedis() {}

    private static RedisCommands<String, String> connect() {
        try {
            RedisProcess server = new RedisProcess();
            return RedisClient.create(RedisURI.create("127.0.0.1", server.port()))
                    .connect()
                    .sync();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public static RedisCommands<String, String> commands() {
        return COMMANDS;
    }
}
