package io.fairgate.gateway.operate;

import io.fairgate.gateway.operate.ManagementPort.FailedCallException;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** A command that asks the management port of a running gateway. The exit code is 1 when it has failed; the error says why. */
abstract class ManagementCommand implements Callable<Integer> {

    @Mixin
    @SuppressWarnings("NullAway.Init") // by picocli
    ManagementPort gateway;

    @Option(names = "--json", description = "Print the answer of the gateway as it is.")
    boolean isJson;

    @Spec
    @SuppressWarnings("NullAway.Init") // by picocli
    CommandSpec command;

    /** Returns the exit code. */
    abstract int run(PrintWriter out) throws FailedCallException, InterruptedException;

    @Override
    public final Integer call() throws InterruptedException {
        PrintWriter out = command.commandLine().getOut();
        try {
            return run(out);
        } catch (FailedCallException e) {
            return fail(String.valueOf(e.getMessage()));
        } finally {
            out.flush();
        }
    }

    final int fail(String message) {
        command.commandLine().getErr().println(message);
        return 1;
    }
}
