package io.fairgate.gateway.policy;

import io.fairgate.config.model.PolicyFile;
import io.fairgate.config.PolicyReader;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Where the policy comes from.
 *
 * @param name what mistakes and logs call it
 * @param first what it said when the gateway started
 * @param file where it can be read again; null when it is in no file, and so stays what it is
 */
public record PolicySource(String name, PolicyFile first, @Nullable Path file) {

    /** @throws io.fairgate.config.model.InvalidPolicyException with every mistake of the file */
    public static PolicySource of(Path file) {
        return new PolicySource(file.toString(), PolicyReader.read(file), file);
    }

    /**
     * What it says now. Blocks.
     *
     * @throws io.fairgate.config.model.InvalidPolicyException with every mistake of the file
     */
    PolicyFile read() {
        return file == null ? first : PolicyReader.read(file);
    }
}
