package io.fairgate.gateway;

import io.fairgate.gateway.cli.ApiKeyCommand;
import io.fairgate.gateway.cli.CheckCommand;
import io.fairgate.gateway.cli.DemoCommand;
import io.fairgate.gateway.cli.SampleCommand;
import io.fairgate.gateway.cli.ServeCommand;
import io.fairgate.gateway.cli.StartCacheCommand;
import io.fairgate.gateway.cli.ThrottleCommand;
import io.fairgate.gateway.operate.DecisionsCommand;
import io.fairgate.gateway.operate.LeaseCommand;
import io.fairgate.gateway.operate.LeasesCommand;
import io.fairgate.gateway.operate.PoolsCommand;
import io.fairgate.gateway.operate.ReadyCommand;
import io.fairgate.gateway.operate.ReloadCommand;
import io.fairgate.gateway.operate.TopCommand;
import io.fairgate.gateway.operate.WhatIfCommand;
import io.fairgate.gateway.start.Version;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;

/** The command line: {@code fairgate [serve|demo|check|what-if|sample|api-key|throttle|start-cache] …}. */
@Command(
        name = "fairgate",
        description = "A gateway that shares the capacity of an upstream fairly between tenants.",
        subcommands = {
            ServeCommand.class,
            DemoCommand.class,
            CheckCommand.class,
            PoolsCommand.class,
            TopCommand.class,
            DecisionsCommand.class,
            LeasesCommand.class,
            LeaseCommand.class,
            ReloadCommand.class,
            ReadyCommand.class,
            WhatIfCommand.class,
            SampleCommand.class,
            ApiKeyCommand.class,
            ThrottleCommand.class,
            StartCacheCommand.class
        },
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        footer =
                "%nWithout a command, serve is run. Options of Spring Boot, such as --server.port=9000, work with serve, demo and check.")
public final class Fairgate {

    private Fairgate() {}

    public static void main(String[] args) {
        int exitCode = run(args);
        if (exitCode != CommandLine.ExitCode.OK) {
            System.exit(exitCode);
        }
    }

    /** Runs a command and returns its exit code. A gateway that was started keeps running after this has returned 0. */
    static int run(String... args) {
        return commandLine(args).execute(withCommand(args));
    }

    /** Some commands are built without the others: they must answer soon, and picocli takes time for each command. */
    private static CommandLine commandLine(String... args) {
        String command = args.length > 0 ? args[0] : "";
        if (command.equals(ThrottleCommand.NAME)) {
            ThrottleCommand.loadAhead();
            return alone(command, new ThrottleCommand());
        } else if (command.equals(CheckCommand.NAME)) {
            return alone(command, new CheckCommand());
        }
        CommandLine all = new CommandLine(new Fairgate());
        // What follows the command that it runs are the options of that.
        Objects.requireNonNull(all.getSubcommands().get(LeaseCommand.NAME)).setStopAtPositional(true);
        return all;
    }

    private static CommandLine alone(String name, Object command) {
        return new CommandLine(CommandSpec.create().name("fairgate"))
                .addSubcommand(name, command)
                .setCaseInsensitiveEnumValuesAllowed(true);
    }

    /** Without a command, {@code serve} is run, so that options may come first. */
    static String[] withCommand(String... args) {
        boolean wantsHelp =
                args.length > 0 && List.of("-h", "--help", "-V", "--version").contains(args[0]);
        if (wantsHelp || (args.length > 0 && !args[0].startsWith("-"))) {
            return args;
        }
        return Stream.concat(Stream.of("serve"), Arrays.stream(args)).toArray(String[]::new);
    }
}
