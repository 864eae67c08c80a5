package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.gateway.log.RecordFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** The contents of a file of records after a record that did not fit. */
@DisabledOnOs(value = OS.WINDOWS, disabledReason = "it has no limit for the size of files")
class RecordFileTest {

    @TempDir
    @SuppressWarnings("NullAway.Init") // by JUnit
    Path folder;

    @Test
    void a_record_that_does_not_fit_is_not_written_in_part() throws Exception {
        Path file = folder.resolve("audit.log");
        Process limited = new ProcessBuilder(
                        "sh",
                        "-c",
                        // 512 bytes, or 1024 in some shells.
                        "ulimit -f 1 && exec \"$@\"",
                        "sh",
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:-UsePerfData",
                        "-cp",
                        System.getProperty("java.class.path"),
                        OtherProcess.class.getName(),
                        file.toString())
                .redirectErrorStream(true)
                .start();
        String said = new String(limited.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(limited.waitFor()).as(said).isZero();
        assertThat(Files.readString(file)).matches("(x{299}\n)+");
    }

    /** Writes records to a file until one does not fit. The limit applies to a whole process, and cannot be removed. */
    static final class OtherProcess {
        private OtherProcess() {}

        public static void main(String[] args) throws IOException {
            byte[] record = ("x".repeat(299) + "\n").getBytes(StandardCharsets.UTF_8);
            RecordFile file = new RecordFile();
            file.openFile(args[0]);
            for (int i = 0; i < 10; i++) {
                try {
                    Objects.requireNonNull(file.getOutputStream()).write(record);
                } catch (IOException e) {
                    return;
                }
            }
            throw new IllegalStateException("all of them fit");
        }
    }
}
