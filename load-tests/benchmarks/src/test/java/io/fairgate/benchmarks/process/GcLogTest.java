package io.fairgate.benchmarks.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GcLogTest {

    private static final double MEGABYTE = 1 << 20;

    private static final List<String> LOG = List.of(
            "[0.005s][info][gc] Using G1",
            "[0.400s][info][gc] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 24M->4M(512M) 3.512ms",
            "[0.900s][info][gc] GC(1) Concurrent Mark Cycle",
            "[0.950s][info][gc] GC(1) Pause Remark 54M->44M(512M) 1.1ms",
            "[1.000s][info][gc] GC(1) Concurrent Mark Cycle 25.3ms",
            "[1.500s][info][gc] GC(2) Pause Full (Diagnostic Command) 244M->10M(512M) 30.0ms");

    /** 50 MB before the remark, and 200 MB after it. */
    @Test
    void what_the_heap_grows_by_between_collections_was_allocated() {
        assertThat(GcLog.allocatedBytes(LOG, 1)).isEqualTo(250 * MEGABYTE);
        assertThat(GcLog.allocatedBytes(LOG, 2)).isEqualTo(200 * MEGABYTE);
    }

    @Test
    void a_log_without_a_later_collection_says_nothing() {
        assertThatThrownBy(() -> GcLog.allocatedBytes(LOG, 3))
                .hasMessage("collection 3 of 3 (expected: one with another one behind it)");
        assertThatThrownBy(() -> GcLog.allocatedBytes(LOG, 0)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void the_log_of_another_jvm_has_what_its_threads_allocated_even_when_they_have_ended(@TempDir Path folder)
            throws Exception {
        GcLog log = new GcLog(folder.resolve("gc.log"));
        try (MeasuredProcess process = MeasuredProcess.java(List.of(
                log.option(),
                "-Xmx64m",
                "-classpath",
                System.getProperty("java.class.path"),
                Allocating.class.getName()))) {
            process.await(Pattern.compile("done"));
            process.collectGarbage();

            assertThat(log.allocatedBytes(1) / MEGABYTE).isBetween(300.0, 310.0);
        }
    }

    /** Collects garbage, allocates 300 MB in a thread that ends, and waits. */
    static final class Allocating {

        private static volatile byte[] latest = {};

        public static void main(String[] args) throws InterruptedException {
            ParentProcess.endWithIt();
            System.gc();
            Thread thread = new Thread(() -> {
                for (int i = 0; i < 300 * 1024; i++) {
                    latest = new byte[1024 - 16];
                }
            });
            thread.start();
            thread.join();
            System.out.println("done " + latest.length);
            Thread.sleep(60_000);
        }
    }
}
