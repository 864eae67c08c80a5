package io.fairgate.benchmarks.process;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Gives processes processors of their own, where the system has {@code taskset}. */
public final class Processors {

    private static final Path TASKSET = Path.of("/usr/bin/taskset");

    private Processors() {}

    public static boolean canBeChosen() {
        return Files.isExecutable(TASKSET);
    }

    /** The beginning of a command that runs on one processor. */
    public static List<String> only(int processor) {
        return canBeChosen() ? List.of(TASKSET.toString(), "-c", Integer.toString(processor)) : List.of();
    }

    /** Runs this process, and all that it starts from now on, on one processor. */
    public static void useOnly(int processor) throws IOException, InterruptedException {
        if (canBeChosen()) {
            String self = Long.toString(ProcessHandle.current().pid());
            new ProcessBuilder(TASKSET.toString(), "-acp", Integer.toString(processor), self)
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start()
                    .waitFor();
        }
    }
}
