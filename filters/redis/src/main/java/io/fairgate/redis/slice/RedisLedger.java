package io.fairgate.redis.slice;

import io.fairgate.redis.connection.RedisConnections;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.reactive.RedisScriptingReactiveCommands;
import io.lettuce.core.codec.Base16;
import java.nio.charset.StandardCharsets;
import java.util.List;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/**
 * The ledger of one pool in Redis. A heartbeat is one call of a script. When the connection is lost in the middle of a call, Lettuce
 * may send the call again after it has connected again; the ledger does not take a heartbeat twice.
 */
final class RedisLedger implements SliceLedger {

    private static final String HEARTBEAT = SliceScripts.heartbeat(SliceScripts.CLOCK);
    private static final String HEARTBEAT_DIGEST = Base16.digest(HEARTBEAT.getBytes(StandardCharsets.UTF_8));

    /** For a server that does not let scripts read its identity: lost writes are then known by versions only. */
    private static final String UNKNOWN_SERVER = "";

    private final RedisConnections redis;
    private final SliceScripts scripts;
    private final String channel;
    private final String[] keys;

    RedisLedger(String pool, SliceScripts scripts, RedisConnections redis) {
        this.redis = redis;
        this.scripts = scripts;
        this.channel = SliceScripts.channel(pool);
        this.keys = SliceScripts.keys(pool);
    }

    @Override
    public Mono<SliceAnswer> heartbeat(Heartbeat beat) {
        String[] arguments = scripts.arguments(beat, UNKNOWN_SERVER);
        return redis.call(commands -> byDigest(commands, arguments)
                        .onErrorResume(RedisNoScriptException.class, restarted -> whole(commands, arguments)))
                .map(answer -> SliceScripts.answer(beat, answer));
    }

    private Mono<List<Object>> byDigest(RedisScriptingReactiveCommands<String, String> redis, String[] arguments) {
        return redis.<List<Object>>evalsha(HEARTBEAT_DIGEST, ScriptOutputType.MULTI, keys, arguments)
                .next();
    }

    private Mono<List<Object>> whole(RedisScriptingReactiveCommands<String, String> redis, String[] arguments) {
        return redis.<List<Object>>eval(HEARTBEAT, ScriptOutputType.MULTI, keys, arguments)
                .next();
    }

    /** Without hints, as when an ACL forbids them, heartbeats find free permits. */
    @Override
    public Disposable onFreePermits(Runnable listener) {
        return redis.listen(channel, listener);
    }
}
