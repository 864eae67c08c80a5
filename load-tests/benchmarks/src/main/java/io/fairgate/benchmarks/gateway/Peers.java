package io.fairgate.benchmarks.gateway;

import io.fairgate.benchmarks.peer.RawProxy;
import io.fairgate.benchmarks.peer.SpringGateway;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.regex.Pattern;

/** The gateways that are compared. Each has one route, for all paths, to the upstream. */
final class Peers {

    private static final Pattern PORT = Pattern.compile("^port (\\d+)");
    private static final Pattern FAIRGATE_PORT = Pattern.compile("serves on port (\\d+), management on port (\\d+)");

    private static final String ROUTE = "--spring.cloud.gateway.server.webflux.routes[0].";
    private static final String FILTER = ROUTE + "filters[0]";

    private static final String NO_REDIS = "--spring.autoconfigure.exclude=" + SpringGateway.REDIS_CONFIGURATION;

    private Peers() {}

    static Peer raw() {
        return program(
                "raw",
                "raw Reactor Netty",
                "A reverse proxy of 20 lines that copies the headers and passes the bodies on.",
                RawProxy.class);
    }

    /** A program that gets the port of the upstream as its argument. */
    static Peer program(String id, String name, String setting, Class<?> main) {
        return new Peer(
                id,
                name,
                setting,
                false,
                surroundings -> List.of(
                        "-classpath",
                        classPath(),
                        main.getName(),
                        port(surroundings.upstream().port())),
                PORT);
    }

    static Peer spring() {
        return spring(
                "scg", "plain SCG", "Spring Cloud Gateway's starter with one route and no filter.", List.of(NO_REDIS));
    }

    static Peer bulkhead(String setting, int calls) {
        return spring(
                "scg-resilience4j", "SCG with Resilience4j", setting, List.of(NO_REDIS, FILTER + "=Bulkhead=" + calls));
    }

    private static Peer spring(String id, String name, String setting, List<String> options) {
        return new Peer(id, name, setting, false, surroundings -> springArguments(surroundings, options), PORT);
    }

    static Peer redisLimiter(String setting, int perSecond) {
        return new Peer(
                "scg-redis",
                "SCG with the Redis limiter",
                setting,
                true,
                surroundings -> springArguments(surroundings, redisOptions(surroundings, perSecond)),
                PORT);
    }

    private static List<String> redisOptions(Surroundings surroundings, int perSecond) {
        return List.of(
                "--spring.data.redis.host=127.0.0.1",
                "--spring.data.redis.port="
                        + port(surroundings.redis().orElseThrow().port()),
                FILTER + ".name=RequestRateLimiter",
                FILTER + ".args.key-resolver=#{@tenantKeyResolver}",
                FILTER + ".args.redis-rate-limiter.replenishRate=" + perSecond,
                FILTER + ".args.redis-rate-limiter.burstCapacity=" + perSecond);
    }

    private static List<String> springArguments(Surroundings surroundings, List<String> options) {
        List<String> arguments = new ArrayList<>(List.of(
                "-classpath",
                classPath(),
                SpringGateway.class.getName(),
                "--server.port=0",
                "--server.address=127.0.0.1",
                "--spring.main.banner-mode=off",
                "--logging.level.root=warn",
                ROUTE + "id=up",
                ROUTE + "uri=http://127.0.0.1:" + port(surroundings.upstream().port()),
                ROUTE + "predicates[0]=Path=/**"));
        arguments.addAll(options);
        return arguments;
    }

    static Peer fairgate(String id, String name, String setting, FairgatePolicy policy) {
        return fairgate(id, name, setting, policy::text);
    }

    /** @param policy the text of the policy for the port of the upstream */
    static Peer fairgate(String id, String name, String setting, IntFunction<String> policy) {
        return new Peer(
                id,
                name,
                setting,
                false,
                surroundings -> fairgateArguments(id, policy, surroundings, List.of()),
                FAIRGATE_PORT);
    }

    /** As one of several gateways that share pools and quotas. */
    static Peer fairgateOnRedis(String id, String name, String setting, FairgatePolicy policy) {
        Function<Surroundings, List<String>> arguments = surroundings -> fairgateArguments(
                id,
                policy::text,
                surroundings,
                List.of(
                        "--fairgate.backend=redis",
                        "--spring.data.redis.port="
                                + port(surroundings.redis().orElseThrow().port())));
        return new Peer(id, name, setting, true, arguments, FAIRGATE_PORT);
    }

    private static List<String> fairgateArguments(
            String id, IntFunction<String> policy, Surroundings surroundings, List<String> options) {
        List<String> arguments = new ArrayList<>(List.of(
                "-jar",
                surroundings.jar().toString(),
                "serve",
                "--config",
                write(policy, id, surroundings).toString(),
                "--server.port=0",
                "--server.address=127.0.0.1",
                "--management.server.port=0"));
        arguments.addAll(options);
        return arguments;
    }

    private static Path write(IntFunction<String> policy, String id, Surroundings surroundings) {
        Path file = surroundings.folder().resolve(id + ".yml");
        try {
            return Files.writeString(file, policy.apply(surroundings.upstream().port()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String port(int port) {
        return Integer.toString(port);
    }

    private static String classPath() {
        return System.getProperty("java.class.path");
    }
}
