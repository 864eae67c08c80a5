package io.fairgate.gateway;

import static io.fairgate.gateway.RunningGateway.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.gateway.FairgateProcess.Started;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Runs the commands of a page of {@code docs}, and looks whether they print what the page says. A YAML block is the policy from then on. What
 * differs from run to run (times, ids, ports) is compared by its form only. Free ports are used, and requests come from Java, because the machine
 * may have no {@code curl}.
 */
final class Tutorial {

    private static final Pattern BLOCK = Pattern.compile("```(\\w*)\n(.*?)```", Pattern.DOTALL);
    private static final Pattern CURL =
            Pattern.compile("curl (?:-i )?(?:-H '([\\w-]+): (\\S+)' )?localhost:(808[01])(/\\S*)");
    private static final Pattern STATUSES = Pattern.compile(
            "for i in ([\\d ]+); do curl -s -o /dev/null -w '%\\{http_code} ' -H '([\\w-]+): (\\S+)' localhost:8080(/\\S*); done");
    private static final Pattern CLIENTS = Pattern.compile(
            "for i in \\$\\(seq (\\d+)\\); do while :; do curl -s -o /dev/null -H 'X-Tenant-Id: (\\w+)' "
                    + "localhost:8080(/\\w+); done & done");
    private static final Pattern EDIT = Pattern.compile("sed -i 's/([^/]+)/([^/]+)/' fairgate\\.yml");
    private static final Pattern PROGRAM = Pattern.compile("java -jar fairgate\\.jar (.*?)( &)?");
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final Path page;
    private final FairgateProcess program;
    private final String upstream;
    private final Path folder;
    private final List<RepeatedRequests> clients = new ArrayList<>();
    private @Nullable Started gateway;

    /** @param upstream what answers in the place of {@code http://localhost:9000} */
    Tutorial(String page, FairgateProcess program, String upstream, Path folder) {
        this.page = Path.of("..", "docs", page);
        this.program = program;
        this.upstream = upstream;
        this.folder = folder;
    }

    /** Runs all of it, and returns how many commands there were. */
    int run() throws Exception {
        int commands = 0;
        Matcher blocks = BLOCK.matcher(Files.readString(page));
        while (blocks.find()) {
            String text = blocks.group(2);
            if (blocks.group(1).equals("yaml")) {
                Files.writeString(folder.resolve("fairgate.yml"), text.replace("http://localhost:9000", upstream));
            } else if (text.startsWith("$ ")) {
                for (String command : text.substring(2).split("(?m)^\\$ ", -1)) {
                    List<String> lines = command.lines().toList();
                    run(lines.get(0), lines.subList(1, lines.size()));
                    commands++;
                }
            }
        }
        return commands;
    }

    private void run(String command, List<String> printed) throws Exception {
        Matcher curl = CURL.matcher(command);
        Matcher statuses = STATUSES.matcher(command);
        Matcher loop = CLIENTS.matcher(command);
        Matcher fairgate = PROGRAM.matcher(command);
        Matcher edit = EDIT.matcher(command);
        if (curl.matches()) {
            assertPrinted(command, printed, ask(curl));
        } else if (statuses.matches()) {
            assertPrinted(command, printed, askOften(statuses));
        } else if (loop.matches()) {
            clients.add(new RepeatedRequests(
                    Integer.parseInt(loop.group(1)), url("8080", loop.group(3)), loop.group(2), PATIENCE));
        } else if (command.equals("kill $(jobs -p)")) {
            stopClients();
        } else if (edit.matches()) {
            Path file = folder.resolve("fairgate.yml");
            Files.writeString(file, Files.readString(file).replace(edit.group(1), edit.group(2)));
        } else if (command.startsWith("prometheus ")) {
            assertThat(printed).isEmpty(); // PrometheusTest runs it.
        } else if (fairgate.matches()) {
            runProgram(command, fairgate.group(1), fairgate.group(2) != null, printed);
        } else {
            throw new AssertionError(page + ": a command that the test does not know: " + command);
        }
    }

    private String url(String port, String path) {
        Started running = Objects.requireNonNull(gateway, "serve");
        return "http://127.0.0.1:" + (port.equals("8080") ? running.port() : running.managementPort()) + path;
    }

    private String ask(Matcher curl) {
        String[] header = curl.group(1) == null ? new String[0] : new String[] {curl.group(1), curl.group(2)};
        Answer answer = Answer.to(url(curl.group(3), curl.group(4)), header);
        StringBuilder text = new StringBuilder("HTTP/1.1 " + answer.status() + "\n");
        answer.headers()
                .map()
                .forEach((name, values) -> values.forEach(
                        value -> text.append(name).append(": ").append(value).append('\n')));
        return text.append('\n').append(answer.body()).toString();
    }

    private String askOften(Matcher statuses) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < statuses.group(1).split(" ", -1).length; i++) {
            String url = url("8080", statuses.group(4));
            text.append(Answer.to(url, statuses.group(2), statuses.group(3)).status())
                    .append(' ');
        }
        return text.toString();
    }

    private void runProgram(String command, String arguments, boolean isInBackground, List<String> printed)
            throws Exception {
        List<String> all = new ArrayList<>(Arrays.asList(arguments.split(" ", -1)));
        switch (all.get(0)) {
            case "serve" -> serve(all);
            case "check", "api-key" -> assertPrinted(command, printed, output(all));
            case "lease" -> {
                all.addAll(1, List.of("--gateway", leasePort()));
                Started started = program.start(folder, all.toArray(String[]::new));
                assertThat(isInBackground || started.awaitExit() == 0).isTrue();
            }
            default -> {
                all.addAll(List.of("--gateway", url("8081", "")));
                if (all.get(0).equals("decisions") && all.size() > 3) {
                    all.set(1, latestDecision());
                }
                // What it shows may need a moment. A command that changes something is not repeated.
                if (all.get(0).equals("reload")) {
                    assertPrinted(command, printed, output(all));
                } else {
                    eventually(() -> assertPrinted(command, printed, output(all)));
                }
            }
        }
    }

    /** In the place of the id on the page. */
    private String latestDecision() throws InterruptedException {
        String all = output(new ArrayList<>(List.of("decisions", "--gateway", url("8081", ""))));
        return all.lines().toList().get(1).split(" ", 2)[0];
    }

    private String leasePort() {
        Matcher port = Objects.requireNonNull(gateway, "serve").awaitOutput(Pattern.compile("leases on port (\\d+)"));
        return "http://127.0.0.1:" + port.group(1);
    }

    /** A gateway that runs already is stopped before. */
    private void serve(List<String> arguments) throws InterruptedException {
        Started before = gateway;
        if (before != null) {
            assertThat(before.terminate().awaitExit()).isZero();
        }
        arguments.addAll(FairgateProcess.FREE_PORTS);
        arguments.add("--fairgate.leases.port=0");
        Started started = program.start(folder, arguments.toArray(String[]::new));
        started.port();
        gateway = started;
    }

    private String output(List<String> arguments) throws InterruptedException {
        Started started = program.start(folder, arguments.toArray(String[]::new));
        started.awaitExit();
        return started.out() + started.err();
    }

    /** Each printed line must be one of the output's; the last line of a status may name it in words. */
    private static void assertPrinted(String command, List<String> printed, String output) {
        List<String> found = output.lines().map(Tutorial::form).toList();
        for (String line : printed) {
            assertThat(found).as(command).anySatisfy(one -> assertThat(one).isEqualToIgnoringCase(form(line)));
        }
    }

    /** A line without what differs from run to run. */
    private static String form(String line) {
        return line.strip()
                .replaceFirst("^(HTTP/1\\.1 \\d+) .*", "$1")
                .replaceFirst("in force (now|already)\\.", "in force.") // The gateway may have seen the change first.
                .replaceAll("fg_[\\w-]{43}", "KEY")
                .replaceAll("sha256:\\w{64}", "DIGEST")
                .replaceAll("\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z", "TIME")
                .replaceAll("(dur=|untilFullSeconds\":)[\\d.]+", "$1N")
                .replaceAll("\\b([0-9a-f]{32}|[0-9a-f]{16}|[0-9a-f]{12}|[0-9a-f]{8})\\b", "ID")
                .replaceAll("\\bsleep-\\d+", "HOLDER")
                .replaceAll("(ahead )?\\d+\\.\\d permit-s$|-$", "LAG")
                .replaceAll("\\b\\d+(\\.\\d+)? (ms|s|min)\\b", "AGE")
                .replaceAll("\\b(t|w)=\\d+", "$1=N")
                .replaceAll("^((?i)Retry-After): \\d+", "$1: N")
                .replaceAll("\\b\\d+(\\.\\d+)? (waiting|requests waited|in flight|permits\\.$)", "N $2")
                .replaceAll("\\d+\\.\\d +\\d+\\.\\d %$", "N")
                .replaceAll("^(\\w+ +\\d+\\.\\d +\\d+) +\\d+ +(AGE|0) +LAG", "$1 N AGE LAG")
                .replaceAll(" +", " ");
    }

    /** Ends the clients that the page has started, and not stopped. */
    void stopClients() throws Exception {
        for (RepeatedRequests each : clients) {
            each.end();
        }
        clients.clear();
    }
}
