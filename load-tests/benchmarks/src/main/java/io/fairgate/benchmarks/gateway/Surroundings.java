package io.fairgate.benchmarks.gateway;

import io.fairgate.benchmarks.load.UpstreamProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What the gateways of a comparison need beside them: the upstream, Redis, the jar of Fairgate, and a folder for files.
 */
final class Surroundings implements AutoCloseable {

    private final Path jar;
    private final Path folder;
    private final UpstreamProcess upstream;
    private final @Nullable RedisServer redis;
    private final String withoutRedis;

    Surroundings(Path jar, Path folder) throws IOException {
        this.jar = jar;
        this.folder = folder;
        upstream = new UpstreamProcess();
        RedisServer started = null;
        String problem = "";
        try {
            started = new RedisServer();
        } catch (RedisServer.CannotStartException e) {
            problem = String.valueOf(e.getMessage());
        }
        redis = started;
        withoutRedis = problem;
    }

    Path jar() {
        return jar;
    }

    Path folder() {
        return folder;
    }

    UpstreamProcess upstream() {
        return upstream;
    }

    Optional<RedisServer> redis() {
        return Optional.ofNullable(redis);
    }

    /** Why there is no Redis. */
    String withoutRedis() {
        return withoutRedis;
    }

    /** The processor time of the upstream and of Redis. */
    Duration used() {
        return upstream.used().plus(redis == null ? Duration.ZERO : redis.used());
    }

    @Override
    public void close() {
        upstream.close();
        if (redis != null) {
            redis.close();
        }
    }
}
