package io.fairgate.benchmarks.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class MeasuredProcessTest {

    private static final Path JDK = Path.of(System.getProperty("java.home"));

    @Test
    void a_JVM_runs_and_its_memory_and_time_are_known() throws IOException {
        try (MeasuredProcess process = MeasuredProcess.java(
                JDK, List.of("-classpath", System.getProperty("java.class.path"), Ready.class.getName()))) {
            process.await(Pattern.compile("^ready"));

            assertThat(process.residentBytes()).isBetween(8L << 20, 8L << 30);
            assertThat(process.used()).isPositive();
        }
    }

    /** Ends with its parent. */
    static final class Ready {

        private Ready() {}

        public static void main(String[] args) throws IOException {
            System.out.println("ready");
            while (System.in.read() >= 0) {}
        }
    }
}
