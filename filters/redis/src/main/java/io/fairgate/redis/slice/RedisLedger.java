package io.fairgate.redis.slice;

import io.fairgate.redis.connection.RedisConnections;
import io.fairgate.redis.connection.RedisScript;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/**
 * The ledger of one pool in Redis. A heartbeat is one call of a script. When the connection is lost in the middle of a call, Lettuce
 * may send the call again after it has connected again; the ledger does not take a heartbeat twice.
 */
final class RedisLedger implements SliceLedger {

    private static final RedisScript HEARTBEAT = new RedisScript(SliceScripts.heartbeat(SliceScripts.CLOCK));

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
        return HEARTBEAT
                .call(redis, keys, scripts.arguments(beat, UNKNOWN_SERVER))
                .map(answer -> SliceScripts.answer(beat, answer));
    }

    /** Without hints, as when an ACL forbids them, heartbeats find free permits. */
    @Override
    public Disposable onFreePermits(Runnable listener) {
        return redis.listen(channel, listener);
    }
}
