package io.fairgate.gateway.cache;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;

/**
 * Makes the file, from a gateway that is started for this and serves some requests, so that their classes are in it as well.
 *
 * <p>An option of the build could make it too. It is made where the program runs, because it is only of use to the same JVM
 * and the same jar.
 */
public final class StartCache {

    private static final String NEW = ".new";

    private final Program program;
    private final CacheKind kind;
    private final Path file;

    private StartCache(Program program, CacheKind kind, Path file) {
        this.program = program;
        this.kind = kind;
        this.file = file;
    }

    /**
     * For the JVM and the jar of this process, beside the jar.
     *
     * @throws StartCacheException when this process does not run from the jar
     */
    public static StartCache besideJar() throws StartCacheException {
        Program program = Program.ofThisProcess();
        CacheKind kind = CacheKind.of(Runtime.version().feature());
        return new StartCache(program, kind, program.jar().resolveSibling(kind.fileName()));
    }

    /**
     * The same, in another file.
     *
     * @throws StartCacheException when something else than a file is there already, such as a folder or a device
     */
    public StartCache in(Path other) throws StartCacheException {
        return new StartCache(program, kind, replaceable(other.toAbsolutePath().normalize()));
    }

    /** The new file takes the place of an old one. It must not take that of a folder, or of {@code /dev/null}. */
    static Path replaceable(Path file) throws StartCacheException {
        if (Files.exists(file) && !Files.isRegularFile(file)) {
            throw new StartCacheException(
                    "start-cache: --output %s: %s (expected: the name of a new file, or an old file)"
                            .formatted(file, Files.isDirectory(file) ? "is a folder" : "is not a file"));
        }
        return file;
    }

    public Path file() {
        return file;
    }

    /** How to start the program with the file. */
    public String command() {
        List<String> command = new ArrayList<>(List.of("java"));
        command.addAll(program.jvmOptions());
        command.addAll(List.of(kind.use(file.toString()), "-jar", program.jar().toString(), "serve"));
        return String.join(" ", command);
    }

    /**
     * Makes the file, and checks that the JVM takes it. An old file is replaced at the end and in one step, because JVMs that
     * run may have mapped it into their memory.
     *
     * @throws StartCacheException when the JVM did not write the file, or does not take it
     */
    public void make() throws StartCacheException, IOException, InterruptedException {
        Path made = file.resolveSibling(file.getFileName() + NEW);
        Files.deleteIfExists(made);
        try {
            String output;
            try (TrainingRun run = new TrainingRun(program, kind.record(made.toString()))) {
                output = run.serveSomeRequests();
            }
            if (!Files.exists(made)) {
                throw new StartCacheException(
                        "start-cache: the JVM did not write %s (expected: a HotSpot JVM with class data sharing, and a folder that can be written):%n%s"
                                .formatted(made, output));
            }
            check(made);
            Files.move(made, file, StandardCopyOption.REPLACE_EXISTING);
        } finally {
            Files.deleteIfExists(made);
        }
    }

    private void check(Path made) throws StartCacheException, IOException, InterruptedException {
        List<String> command = program.command(List.of(kind.use(made.toString()), kind.strict()), List.of("--version"));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), TrainingRun.OUTPUT);
        if (process.waitFor() != 0) {
            throw new StartCacheException(
                    "start-cache: the JVM does not take the file with the options that it has made it with: %s:%n%s"
                            .formatted(String.join(" ", program.jvmOptions()), output));
        }
    }
}
