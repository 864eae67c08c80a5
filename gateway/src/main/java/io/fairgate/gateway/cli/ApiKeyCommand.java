package io.fairgate.gateway.cli;

import io.fairgate.gateway.start.Version;
import io.fairgate.policy.ApiKeyHash;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code api-key}: creates an API key, and the digest of it for the policy. */
@Command(
        name = "api-key",
        description = "Creates an API key: the key for the tenant, and its digest for the policy.",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class)
public final class ApiKeyCommand implements Callable<Integer> {

    /** Lets people, and programs that scan for leaked secrets, recognise a key. */
    private static final String PREFIX = "fg_";

    private static final int RANDOM_BYTES = 32;
    private static final int SHORTEST = 22;

    @Option(names = "--stdin", description = "Read the key from standard input instead of creating one.")
    private boolean given;

    @Spec
    private CommandSpec command;

    @Override
    public Integer call() throws IOException {
        PrintWriter out = command.commandLine().getOut();
        String key = given ? read() : made();
        if (key.length() < SHORTEST) {
            // A digest protects only a key that cannot be guessed.
            command.commandLine()
                    .getErr()
                    .printf(
                            "The key has %d characters (expected: at least %d random characters)%n",
                            key.length(), SHORTEST);
            return 1;
        }
        if (!given) {
            out.printf("API key, which is not shown again: %s%n", key);
        }
        out.printf(
                "Entry of its member in the policy: api-keys: [ \"%s\" ]%n",
                ApiKeyHash.of(key).text());
        out.printf("Id of the key in logs:             %s%n", ApiKeyHash.of(key).id());
        out.flush();
        return 0;
    }

    private static String made() {
        byte[] random = new byte[RANDOM_BYTES];
        new SecureRandom().nextBytes(random);
        return PREFIX + Base64.getUrlEncoder().withoutPadding().encodeToString(random);
    }

    private static String read() throws IOException {
        String line = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)).readLine();
        return line == null ? "" : line.strip();
    }
}
