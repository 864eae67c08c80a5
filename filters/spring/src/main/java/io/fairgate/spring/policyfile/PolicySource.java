package io.fairgate.spring.policyfile;

import io.fairgate.config.PolicyReader;
import io.fairgate.config.model.InvalidPolicyException;
import io.fairgate.config.model.PolicyFile;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The source of the policy.
 *
 * @param name the name in mistakes and logs
 * @param first the policy when the application started
 * @param file the file to read again; null when the policy is in no file, and so cannot change
 */
public record PolicySource(
        String name, PolicyFile first, @Nullable Path file) {

    /** Reads the policy of a file; blocks. Throws {@link InvalidPolicyException} with every mistake of the file. */
    public static PolicySource of(Path file) {
        return new PolicySource(file.toString(), PolicyReader.read(file), file);
    }

    /** The current policy, like {@link #of}. */
    PolicyFile read() {
        return file == null ? first : PolicyReader.read(file);
    }
}
