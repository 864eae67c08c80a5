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

    private static final RedisScript HEARTBEAT = new RedisScript(SliceScripts.heartbeat(RedisScript.CLOCK));
    private static final RedisScript EXTEND = new RedisScript(SliceScripts.extend(RedisScript.CLOCK));
    private static final RedisScript RELEASE = new RedisScript(SliceScripts.release(RedisScript.CLOCK));

    private static final RedisScript CALL = new RedisScript(SliceScripts.call());

    /** For a server that does not let scripts read its identity: lost writes are then known by versions only. */
    private static final String UNKNOWN_SERVER = "";

    /** Names of leases are unique. */
    private static final long ANY_TOKEN = 0;

    private final RedisConnections redis;
    private final SliceScripts scripts;
    private final String channel;
    private final String calls;
    private final String[] keys;

    RedisLedger(String pool, SliceScripts scripts, RedisConnections redis) {
        this.redis = redis;
        this.scripts = scripts;
        this.channel = SliceScripts.channel(pool);
        this.calls = SliceScripts.calls(pool);
        this.keys = SliceScripts.keys(pool);
    }

    @Override
    public Mono<SliceAnswer> heartbeat(Heartbeat beat) {
        return HEARTBEAT
                .call(redis, keys, scripts.arguments(beat, UNKNOWN_SERVER))
                .map(answer -> SliceScripts.answer(beat, answer));
    }

    @Override
    public Mono<Boolean> extend(String lease, long ttlMillis) {
        return EXTEND.call(redis, keys, scripts.extend(lease, ANY_TOKEN, ttlMillis, LedgerVersion.NONE, UNKNOWN_SERVER))
                .map(SliceScripts::isHeld);
    }

    @Override
    public Mono<Void> release(String lease) {
        return RELEASE.call(redis, keys, scripts.release(lease, ANY_TOKEN, LedgerVersion.NONE, UNKNOWN_SERVER))
                .then();
    }

    /** Without hints, as when an ACL forbids them, heartbeats find free permits. */
    @Override
    public Disposable onFreePermits(Runnable listener) {
        return redis.listen(channel, listener);
    }

    @Override
    public Mono<Void> callNodes() {
        return CALL.call(redis, keys, new String[] {calls}).then();
    }

    @Override
    public Disposable onCall(Runnable listener) {
        return redis.listen(calls, listener);
    }
}
