package io.fairgate.redis.connection;

import reactor.core.publisher.Mono;

/** Makes connections. */
interface RedisDriver extends AutoCloseable {

    /** Emits new connections, or errors when Redis cannot be reached. */
    Mono<Connected> connect();

    @Override
    void close();
}
