package io.fairgate.redis.connection;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.reactive.RedisScriptingReactiveCommands;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultClientResources;
import io.lettuce.core.resource.Delay;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import reactor.core.publisher.Mono;

/**
 * Connections of Lettuce, with settings for many small commands whose answers must come soon: it connects again after a constant short
 * time (Lettuce waits up to 30 s by default), and a command without a connection errors at once instead of being queued.
 */
final class LettuceDriver implements RedisDriver {

    /** From its beginning to the end of the handshake. */
    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(2);

    private static final Duration BEFORE_NEXT_CONNECT = Duration.ofMillis(200);
    private static final Duration TOPOLOGY_REFRESH = Duration.ofSeconds(30);

    /** The connection of messages is quiet for long, and nothing else would notice that its other end has gone. */
    private static final SocketOptions.KeepAliveOptions KEEP_ALIVE = SocketOptions.KeepAliveOptions.builder()
            .enable()
            .idle(Duration.ofSeconds(5))
            .interval(Duration.ofSeconds(2))
            .count(3)
            .build();

    /** The fewest that Lettuce allows; it makes one for each processor otherwise. */
    private static final int THREADS = 2;

    private final ClientResources resources = DefaultClientResources.builder()
            .ioThreadPoolSize(THREADS)
            .computationThreadPoolSize(THREADS)
            .reconnectDelay(Delay.constant(BEFORE_NEXT_CONNECT))
            .build();
    private final AbstractRedisClient client;
    private final Supplier<Mono<Connected>> connect;

    LettuceDriver(RedisAddress address) {
        address.uris().forEach(LettuceDriver::bound);
        if (address.isCluster()) {
            RedisClusterClient cluster = RedisClusterClient.create(resources, address.uris());
            cluster.setOptions(clusterOptions(address));
            client = cluster;
            // Lettuce connects to a Cluster only after it has asked for its nodes.
            connect = () -> Mono.fromCompletionStage(cluster::refreshPartitionsAsync)
                    .then(both(
                            Mono.fromCompletionStage(() -> cluster.connectAsync(StringCodec.UTF8)),
                            connection -> connection.reactive(),
                            Mono.fromCompletionStage(() -> cluster.connectPubSubAsync(StringCodec.UTF8))));
        } else {
            RedisURI uri = address.uris().get(0);
            RedisClient single = RedisClient.create(resources, uri);
            single.setOptions(common(ClientOptions.builder(), address).build());
            client = single;
            connect = () -> both(
                    Mono.fromCompletionStage(() -> single.connectAsync(StringCodec.UTF8, uri)),
                    connection -> connection.reactive(),
                    Mono.fromCompletionStage(() -> single.connectPubSubAsync(StringCodec.UTF8, uri)));
        }
    }

    /** Lettuce waits a minute for the handshake by default. */
    private static void bound(RedisURI uri) {
        uri.setTimeout(CONNECT_TIMEOUT);
        uri.getSentinels().forEach(LettuceDriver::bound);
    }

    private static ClusterClientOptions clusterOptions(RedisAddress address) {
        ClusterClientOptions.Builder builder = ClusterClientOptions.builder();
        common(builder, address);
        return builder.topologyRefreshOptions(ClusterTopologyRefreshOptions.builder()
                        .enablePeriodicRefresh(TOPOLOGY_REFRESH)
                        .build())
                .build();
    }

    private static <B extends ClientOptions.Builder> B common(B builder, RedisAddress address) {
        builder.disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
                .socketOptions(SocketOptions.builder()
                        .connectTimeout(CONNECT_TIMEOUT)
                        .keepAlive(KEEP_ALIVE)
                        .build())
                .sslOptions(address.ssl());
        return builder;
    }

    @Override
    public Mono<Connected> connect() {
        return connect.get();
    }

    /** Both connections, or none. */
    private static <C extends StatefulConnection<String, String>> Mono<Connected> both(
            Mono<C> commands,
            Function<C, RedisScriptingReactiveCommands<String, String>> reactive,
            Mono<? extends StatefulRedisPubSubConnection<String, String>> messages) {
        return commands.flatMap(first -> messages.doOnError(failed -> close(first))
                .map(second -> new Connected(reactive.apply(first), second, () -> {
                    close(first);
                    close(second);
                })));
    }

    private static void close(StatefulConnection<String, String> connection) {
        var unused = connection.closeAsync();
    }

    /** Blocks for a few seconds at most. Lettuce itself would wait for ever if it could not close a connection; its threads are daemons. */
    @Override
    public void close() {
        long patience = CONNECT_TIMEOUT.toMillis();
        var unused = client.shutdownAsync(0, patience, TimeUnit.MILLISECONDS)
                .completeOnTimeout(null, patience, TimeUnit.MILLISECONDS)
                .exceptionally(failed -> null)
                .join();
        resources.shutdown(0, patience, TimeUnit.MILLISECONDS).awaitUninterruptibly(patience);
    }
}
