package io.fairgate.gateway.cache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.io.TempDir;

class StartCacheTest {

    private static final Path DEVICE = Path.of("/dev/null");

    @Test
    void a_new_file_and_an_old_one_can_be_written(@TempDir Path folder) throws Exception {
        Path old = Files.createFile(folder.resolve("old.aot"));
        assertThat(StartCache.replaceable(old)).isEqualTo(old);
        assertThat(StartCache.replaceable(folder.resolve("new.aot"))).isEqualTo(folder.resolve("new.aot"));
    }

    @Test
    void a_folder_is_not_replaced(@TempDir Path folder) {
        assertThatThrownBy(() -> StartCache.replaceable(folder))
                .isInstanceOf(StartCacheException.class)
                .hasMessage("start-cache: --output " + folder
                        + ": is a folder (expected: the name of a new file, or an old file)");
    }

    @Test
    @EnabledIf(value = "hasDevices", disabledReason = "this system has no /dev/null")
    void a_device_is_not_replaced() {
        assertThatThrownBy(() -> StartCache.replaceable(DEVICE)).hasMessageContaining("/dev/null: is not a file");
    }

    static boolean hasDevices() {
        return Files.exists(DEVICE) && !Files.isRegularFile(DEVICE);
    }
}
