package io.fairgate.redis.connection;

import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.codec.Base16;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import reactor.core.publisher.Mono;

/** A script, which Redis keeps: mostly only its digest is sent. Immutable. */
public final class RedisScript {

    /** What a script with a clock of its own begins with: the server's clock in milliseconds, and the identity of the server. */
    public static final String CLOCK = read(RedisScript.class, "clock.lua");

    private final String text;
    private final String digest;

    public RedisScript(String text) {
        this.text = text;
        this.digest = Base16.digest(text.getBytes(StandardCharsets.UTF_8));
    }

    /** The text of a resource. Throws {@link IllegalStateException} when the resource does not exist. */
    public static String read(Class<?> beside, String resource) {
        try (InputStream in = beside.getResourceAsStream(resource)) {
            if (in == null) {
                throw new IllegalStateException("no resource " + resource);
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Has Redis execute it. Emits the answer, with integers as {@code Long}, and text as {@code String}. */
    public Mono<List<Object>> call(RedisConnections redis, String[] keys, String[] arguments) {
        return redis.call(commands -> commands.<List<Object>>evalsha(digest, ScriptOutputType.MULTI, keys, arguments)
                .next()
                .onErrorResume(
                        RedisNoScriptException.class,
                        restarted -> commands.<List<Object>>eval(text, ScriptOutputType.MULTI, keys, arguments)
                                .next()));
    }
}
