package io.fairgate.benchmarks.process;

import java.io.IOException;

/** The process that started this one. */
public final class ParentProcess {

    private ParentProcess() {}

    /** Ends this JVM when the parent process ends, however that ends. */
    public static void endWithIt() {
        Thread thread = new Thread(ParentProcess::awaitEnd, "parent");
        thread.setDaemon(true);
        thread.start();
    }

    /** The standard input is a pipe from the parent; the system closes it when the parent ends. */
    private static void awaitEnd() {
        try {
            while (System.in.read() >= 0) {
                // The parent never writes.
            }
        } catch (IOException closed) {
            // Means the same as the end of the input.
        }
        System.exit(0);
    }
}
