package io.fairgate.redis.lease;

import io.fairgate.redis.connection.RedisConnections;
import io.fairgate.redis.connection.RedisScript;
import java.util.List;
import reactor.core.publisher.Mono;

/** The script of the book, as a gateway reaches it. */
interface BookCalls {

    /** All keys have one tag, so that a Redis Cluster keeps them on one node. No pool has keys with this beginning. */
    List<String> KEYS = List.of(
                    "book", "records", "due", "waiting", "tenants", "hosts", "mail", "gateways", "ended", "ended-of")
            .stream()
            .map(name -> "fairgate:leases:{leases}:" + name)
            .toList();

    /** Has the script execute a call. Errors when there is no answer; it may have been executed then. */
    Mono<List<Object>> call(List<String> arguments);

    static String script(String clock) {
        return clock + RedisScript.read(BookCalls.class, "book.lua");
    }

    /** On a real server. */
    static BookCalls of(RedisConnections redis) {
        RedisScript script = new RedisScript(script(RedisScript.CLOCK));
        String[] keys = KEYS.toArray(String[]::new);
        return arguments -> script.call(redis, keys, arguments.toArray(String[]::new));
    }
}
