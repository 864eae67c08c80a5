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
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;

/** The command line: {@code fairgate [serve|demo|check|what-if|sample|api-key|throttle|start-cache] …}. */
@Command(
        name = "fairgate",
        description = "A gateway that shares the capacity of an upstream fairly between tenants.",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        footer =
                "%nWithout a command, serve is run. Options of Spring Boot, such as --server.port=9000, work with serve, demo and check.")
public final class Fairgate {

    /** In the order in which help shows them. */
    private static final List<String> COMMANDS = List.of(
            "serve",
            "demo",
            "check",
            "pools",
            "top",
            "decisions",
            "leases",
            "lease",
            "reload",
            "ready",
            "what-if",
            "sample",
            "api-key",
            "throttle",
            "start-cache");

    private Fairgate() {}

    public static void main(String[] args) {
        int exitCode = run(args);
        if (exitCode != CommandLine.ExitCode.OK) {
            System.exit(exitCode);
        }
    }

    /** Runs a command and returns its exit code. A gateway that was started keeps running after this has returned 0. */
    static int run(String... args) {
        String[] all = withCommand(args);
        return commandLine(all).execute(all);
    }

    /** Only the command that runs is built, if it is known: picocli takes time for each, and a gateway shall start soon. */
    private static CommandLine commandLine(String... args) {
        String name = args[0];
        if (name.equals(ThrottleCommand.NAME)) {
            ThrottleCommand.loadAhead();
        }
        return COMMANDS.contains(name)
                ? with(new CommandLine(CommandSpec.create().name("fairgate")), name)
                : withAll(new CommandLine(new Fairgate()));
    }

    private static CommandLine withAll(CommandLine program) {
        COMMANDS.forEach(name -> with(program, name));
        return program;
    }

    private static CommandLine with(CommandLine program, String name) {
        CommandLine command = new CommandLine(command(name)).setCaseInsensitiveEnumValuesAllowed(true);
        // What follows the command that `lease` runs are the options of that command.
        command.setStopAtPositional(name.equals("lease"));
        return program.addSubcommand(name, command);
    }

    private static Object command(String name) {
        return switch (name) {
            case "serve" -> new ServeCommand();
            case "demo" -> new DemoCommand();
            case "check" -> new CheckCommand();
            case "pools" -> new PoolsCommand();
            case "top" -> new TopCommand();
            case "decisions" -> new DecisionsCommand();
            case "leases" -> new LeasesCommand();
            case "lease" -> new LeaseCommand();
            case "reload" -> new ReloadCommand();
            case "ready" -> new ReadyCommand();
            case "what-if" -> new WhatIfCommand();
            case "sample" -> new SampleCommand();
            case "api-key" -> new ApiKeyCommand();
            case "throttle" -> new ThrottleCommand();
            case "start-cache" -> new StartCacheCommand();
            default -> throw new IllegalArgumentException(name);
        };
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
