package io.fairgate.gateway;

import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Unmatched;

/** Options that are not ours and go on to Spring Boot. A property of Spring has a dot in its name; a typo rarely has. */
final class SpringOptions {

    private static final List<String> WITHOUT_DOT = List.of("--debug", "--trace");

    @Unmatched
    private List<String> options = new ArrayList<>();

    @Spec(Spec.Target.MIXEE)
    private CommandSpec command;

    /** @throws ParameterException when one of them would be read by nobody */
    String[] checked() {
        for (String option : options) {
            String name = option.contains("=") ? option.substring(0, option.indexOf('=')) : option;
            boolean springs = name.startsWith("--") && (name.contains(".") || WITHOUT_DOT.contains(name));
            if (!springs) {
                throw new ParameterException(
                        command.commandLine(),
                        "%s: unknown option (expected: an option of this command, or a property of Spring Boot such as --server.port=9000)"
                                .formatted(option));
            }
        }
        return options.toArray(String[]::new);
    }
}
