package io.fairgate.redis.slice;

import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.reactive.RedisReactiveCommands;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.util.List;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/**
 * The ledger of one pool in Redis. A heartbeat is one call of a script. When the connection is lost in the middle of a call, Lettuce
 * may send the call again after it has connected again; the ledger does not take a heartbeat twice.
 */
final class RedisLedger implements SliceLedger {

    private static final String HEARTBEAT = SliceScripts.heartbeat(SliceScripts.CLOCK);

    /** For a server that does not let scripts read its identity: lost writes are then known by versions only. */
    private static final String UNKNOWN_SERVER = "";

    private final RedisReactiveCommands<String, String> redis;
    private final StatefulRedisPubSubConnection<String, String> hints;
    private final SliceScripts scripts;
    private final String channel;
    private final String[] keys;
    private final String digest;

    /** @param hints another connection, on which nothing but messages comes */
    RedisLedger(
            String pool,
            SliceScripts scripts,
            StatefulRedisConnection<String, String> connection,
            StatefulRedisPubSubConnection<String, String> hints) {
        this.redis = connection.reactive();
        this.hints = hints;
        this.scripts = scripts;
        this.channel = SliceScripts.channel(pool);
        this.keys = SliceScripts.keys(pool);
        this.digest = redis.digest(HEARTBEAT);
    }

    @Override
    public Mono<SliceAnswer> heartbeat(Heartbeat beat) {
        String[] arguments = scripts.arguments(beat, UNKNOWN_SERVER);
        return redis.<List<Object>>evalsha(digest, ScriptOutputType.MULTI, keys, arguments)
                .next()
                .onErrorResume(
                        RedisNoScriptException.class,
                        restarted -> redis.<List<Object>>eval(HEARTBEAT, ScriptOutputType.MULTI, keys, arguments)
                                .next())
                .map(answer -> SliceScripts.answer(beat, answer));
    }

    /** Without hints, as when an ACL forbids them, heartbeats find free permits. */
    @Override
    public Disposable onFreePermits(Runnable listener) {
        RedisPubSubAdapter<String, String> adapter = new RedisPubSubAdapter<>() {
            @Override
            public void message(String from, String message) {
                if (from.equals(channel)) {
                    listener.run();
                }
            }
        };
        hints.addListener(adapter);
        hints.reactive().subscribe(channel).subscribe(done -> {}, failed -> {});
        return () -> {
            hints.removeListener(adapter);
            hints.reactive().unsubscribe(channel).subscribe(done -> {}, failed -> {});
        };
    }
}
