package io.fairgate.gateway.cli;

import java.util.List;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/** Options that are passed on to Spring Boot. A property of Spring has a dot in its name; a typo rarely has one. */
final class SpringOptions {

    private static final List<String> WITHOUT_DOT = List.of("--debug", "--trace");

    private SpringOptions() {}

    /**
     * Checks the options that a command did not match itself. Each command declares this list on its own, because picocli
     * ignores {@code @Unmatched} in a mixin.
     *
     * @throws ParameterException for an option that neither the command nor Spring Boot would read
     */
    static String[] checked(CommandSpec command, List<String> unmatched) {
        for (String option : unmatched) {
            String name = option.contains("=") ? option.substring(0, option.indexOf('=')) : option;
            boolean springs = name.startsWith("--") && (name.contains(".") || WITHOUT_DOT.contains(name));
            if (!springs) {
                throw new ParameterException(
                        command.commandLine(),
                        "%s: unknown option (expected: an option of this command, or a property of Spring Boot such as --server.port=9000)"
                                .formatted(option));
            }
        }
        return unmatched.toArray(String[]::new);
    }
}
