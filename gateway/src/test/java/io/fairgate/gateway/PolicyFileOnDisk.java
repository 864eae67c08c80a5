package io.fairgate.gateway;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** A policy file that a test changes as operators do: by moving another one over it. */
record PolicyFileOnDisk(Path path) {

    PolicyFileOnDisk write(String policy) {
        try {
            Path next = path.resolveSibling(path.getFileName() + ".next");
            Files.writeString(next, policy);
            Files.move(next, path, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
            return this;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
