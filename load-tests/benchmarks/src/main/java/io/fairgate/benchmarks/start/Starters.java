package io.fairgate.benchmarks.start;

import io.fairgate.benchmarks.gateway.FairgatePolicy;
import io.fairgate.benchmarks.peer.OneAnswer;
import io.fairgate.benchmarks.peer.SpringGateway;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The programs whose starts are compared.
 *
 * @param jar of Fairgate
 * @param folder for files of the run
 * @param upstream the port of the upstream of all gateways
 */
record Starters(Path jar, Path folder, int upstream) {

    static final String JVM = "JVM alone";
    static final String SPRING = "plain SCG";
    static final String SERVE = "Fairgate serve";
    static final String SERVE_CACHED = "Fairgate serve, start cache";
    static final String THROTTLE = "Fairgate throttle";
    static final String THROTTLE_CACHED = "Fairgate throttle, start cache";
    static final String SERVE_25 = "Fairgate serve, JDK 25";
    static final String SERVE_25_CACHED = "Fairgate serve, JDK 25, start cache";

    private static final int FIRST_WITH_AOT_CACHE = 25;
    private static final String ANY_PATH = "/x";
    private static final String ROUTE = "--spring.cloud.gateway.server.webflux.routes[0].";
    private static final String QUOTAS =
            "{ name: burst, limit: 1000000, per: 1s }, { name: daily, limit: 1000000000, per: day }";

    /** Makes the files that they need, start caches included. */
    List<Starter> all(Path jdk, Optional<Path> jdk25) throws IOException, InterruptedException {
        Path policy = Files.writeString(
                folder.resolve("start.yml"),
                new FairgatePolicy(List.of("t1"), QUOTAS, 1_000, "FairShare=pool").text(upstream));
        Path locks = Files.writeString(folder.resolve("start.toml"), "[semaphores]\nA = 1\n");
        String cache = cache(jdk, Runtime.version().feature());
        List<Starter> all = new ArrayList<>(List.of(
                new Starter(
                        JVM,
                        "A program of 20 lines that answers with nothing but the JDK.",
                        jdk,
                        List.of("-classpath", classPath(), OneAnswer.class.getName(), Starter.PORT),
                        ANY_PATH),
                new Starter(
                        SPRING,
                        "Spring Cloud Gateway's starter with one route and no filter, from a class path of jars.",
                        jdk,
                        spring(),
                        ANY_PATH),
                serve(SERVE, "`java -jar fairgate.jar serve`, with `FairShare` and two quotas.", jdk, policy),
                serve(SERVE_CACHED, "The same with the file of `start-cache`.", jdk, policy, cache),
                throttle(THROTTLE, "`java -jar fairgate.jar throttle`, with one semaphore.", jdk, locks),
                throttle(THROTTLE_CACHED, "The same with the file of `start-cache`.", jdk, locks, cache)));
        if (jdk25.isPresent()) {
            Path home = jdk25.get();
            all.add(serve(SERVE_25, "Fairgate serve on JDK 25.", home, policy));
            all.add(serve(
                    SERVE_25_CACHED,
                    "The same with the file of `start-cache`, which is an AOT cache there.",
                    home,
                    policy,
                    cache(home, FIRST_WITH_AOT_CACHE)));
        }
        return all;
    }

    private List<String> spring() {
        return List.of(
                "-classpath",
                classPath(),
                SpringGateway.class.getName(),
                "--server.port=" + Starter.PORT,
                "--server.address=127.0.0.1",
                "--spring.main.banner-mode=off",
                "--logging.level.root=warn",
                "--spring.autoconfigure.exclude=" + SpringGateway.REDIS_CONFIGURATION,
                ROUTE + "id=up",
                ROUTE + "uri=http://127.0.0.1:" + upstream,
                ROUTE + "predicates[0]=Path=/**");
    }

    private Starter serve(String name, String setting, Path jdk, Path policy, String... jvmOptions) {
        List<String> arguments = new ArrayList<>(List.of(jvmOptions));
        arguments.addAll(List.of(
                "-jar",
                jar.toString(),
                "serve",
                "--config",
                policy.toString(),
                "--server.port=" + Starter.PORT,
                "--server.address=127.0.0.1",
                "--management.server.port=0"));
        return new Starter(name, setting, jdk, arguments, ANY_PATH);
    }

    private Starter throttle(String name, String setting, Path jdk, Path locks, String... jvmOptions) {
        List<String> arguments = new ArrayList<>(List.of(jvmOptions));
        arguments.addAll(List.of("-jar", jar.toString(), "throttle", "-c", locks.toString(), "--port", Starter.PORT));
        return new Starter(name, setting, jdk, arguments, "/remainder?semaphore=A");
    }

    /** Makes a start cache as an operator does, and returns the JVM's option for it. */
    private String cache(Path jdk, int feature) throws IOException, InterruptedException {
        Path file = folder.resolve("start-" + feature + ".cache");
        Process making = new ProcessBuilder(
                        Starter.java(jdk), "-jar", jar.toString(), "start-cache", "--output", file.toString())
                .inheritIO()
                .start();
        if (making.waitFor() != 0) {
            throw new IOException("start-cache failed with " + jdk);
        }
        return (feature >= FIRST_WITH_AOT_CACHE ? "-XX:AOTCache=" : "-XX:SharedArchiveFile=") + file;
    }

    private static String classPath() {
        return System.getProperty("java.class.path");
    }
}
