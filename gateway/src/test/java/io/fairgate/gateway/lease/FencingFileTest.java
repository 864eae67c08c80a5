package io.fairgate.gateway.lease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;

class FencingFileTest {

    private final Path path;

    FencingFileTest(@TempDir Path folder) {
        path = folder.resolve("fencing");
    }

    private void write(long... marks) throws IOException {
        try (FencingFile file = FencingFile.open(path)) {
            file.read();
            for (long mark : marks) {
                file.write(mark);
            }
        }
    }

    private long read() throws IOException {
        try (FencingFile file = FencingFile.open(path)) {
            return file.read();
        }
    }

    private void damage(long at) throws IOException {
        try (FileChannel raw = FileChannel.open(path, StandardOpenOption.WRITE)) {
            raw.write(ByteBuffer.wrap(new byte[] {'x'}), at);
        }
    }

    @Test
    void the_file_keeps_the_latest_mark() throws IOException {
        assertThat(read()).isZero();
        write(1, 2, 3);
        assertThat(read()).isEqualTo(3);
        write(1_795_331_469_131_000L);
        assertThat(read()).isEqualTo(1_795_331_469_131_000L);
    }

    @Test
    void a_partly_written_mark_leaves_the_previous_one() throws IOException {
        write(10, 20);
        damage(4096 + 18);
        assertThat(read()).isEqualTo(10);
        write(30);
        assertThat(read()).as("over the damaged one").isEqualTo(30);
        damage(5);
        assertThat(read()).isEqualTo(30);
    }

    @Test
    void a_file_that_is_something_else_is_refused() throws IOException {
        Files.writeString(path, "something else");
        assertThatThrownBy(this::read)
                .isInstanceOf(InvalidConfigurationPropertyValueException.class)
                .hasMessageContaining("fairgate.leases.fencing-file");
        assertThat(path).hasContent("something else");
    }

    @Test
    void only_one_process_at_a_time_uses_the_file() throws IOException {
        try (FencingFile file = FencingFile.open(path)) {
            file.write(1);
            assertThatThrownBy(() -> FencingFile.open(path))
                    .isInstanceOf(InvalidConfigurationPropertyValueException.class);
        }
        assertThat(read()).isEqualTo(1);
    }

    @Test
    void a_failed_write_is_an_error_and_the_next_write_is_tried() throws IOException {
        FencingFile closed = FencingFile.open(path);
        closed.close();
        assertThatThrownBy(() -> closed.write(1)).isInstanceOf(IOException.class);
    }
}
