package io.fairgate.config;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/** The reference of every policy key, {@code config/fairgate.yml}, and its JSON schema, packed with the classes. */
public final class PolicyReference {
    private PolicyReference() {}

    /** The text of the reference, which is a valid policy. Blocks the calling thread while it reads. */
    public static String text() {
        return packed("fairgate.yml");
    }

    /** The JSON schema (2020-12) of policies, for editors. Blocks the calling thread while it reads. */
    public static String schema() {
        return packed("fairgate.schema.json");
    }

    private static String packed(String name) {
        try (InputStream in = Objects.requireNonNull(PolicyReference.class.getResourceAsStream(name))) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
