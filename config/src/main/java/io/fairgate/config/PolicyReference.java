package io.fairgate.config;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/** The reference of every key, {@code config/fairgate.yml}, which is packed with the classes. */
public final class PolicyReference {
    private PolicyReference() {}

    /** Its text, which is a policy that works. Reading blocks, as files do. */
    public static String text() {
        try (InputStream in = Objects.requireNonNull(PolicyReference.class.getResourceAsStream("fairgate.yml"))) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
