package io.fairgate.gateway;

import static io.fairgate.gateway.RunningGateway.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.fairgate.gateway.FairgateProcess.Started;
import io.fairgate.redis.connection.RedisProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code docs/two-gateways.md}, command by command, on free ports. The API of the page is a {@link ScriptedUpstream}, and the clients in
 * shell loops are clients of Java, because the machine may have no JDK beside the tests' and no {@code curl}.
 */
@Tag("long")
class TwoGatewaysIT {

    private static final Pattern BLOCK = Pattern.compile("```(\\w*)\n(.*?)```", Pattern.DOTALL);
    private static final Pattern CURL =
            Pattern.compile("curl (?:-i -H 'X-Tenant-Id: (\\w+)' )?localhost:(\\d+)(/\\S+)");
    private static final Pattern CLIENTS = Pattern.compile(
            "for i in \\$\\(seq (\\d+)\\); do while :; do curl -s -o /dev/null -H 'X-Tenant-Id: (\\w+)' "
                    + "localhost:(\\d+)(/\\w+); done & done");

    @RegisterExtension
    final FairgateProcess program = new FairgateProcess();

    @RegisterExtension
    final ScriptedUpstream upstream = new ScriptedUpstream();

    private Path folder = Path.of("");
    private final MeasuredWork work = new MeasuredWork();
    private final List<RepeatedRequests> clients = new ArrayList<>();
    private final int redisPort = freePort();
    private @Nullable RedisProcess redis;
    /** The port of the page, and ours. */
    private final Map<String, Integer> ports = new HashMap<>();

    @AfterEach
    void stop() throws Exception {
        for (RepeatedRequests each : clients) {
            each.end();
        }
        if (redis != null) {
            redis.close();
        }
    }

    private static int freePort() {
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return free.getLocalPort();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void the_page_says_what_happens(@TempDir Path files) throws Exception {
        folder = files;
        upstream.on("/hello", work.of("all", 50));
        Matcher blocks = BLOCK.matcher(Files.readString(Path.of("..", "docs", "two-gateways.md")));
        int commands = 0;
        while (blocks.find()) {
            if (blocks.group(1).equals("yaml")) {
                Files.writeString(
                        folder.resolve("fairgate.yml"),
                        blocks.group(2).replace("http://localhost:9000", upstream.url()));
            } else if (blocks.group(1).isEmpty()) {
                for (String command : blocks.group(2).split("(?m)^\\$ ", -1)) {
                    if (!command.isBlank()) {
                        run(command.lines().toList());
                        commands++;
                    }
                }
            }
        }
        assertThat(commands).isEqualTo(16);
        assertThat(work.highest()).isEqualTo(4);
    }

    /** A command and what it prints. */
    private void run(List<String> lines) throws IOException {
        String command = lines.get(0);
        List<String> printed = lines.subList(1, lines.size());
        Matcher curl = CURL.matcher(command);
        Matcher loop = CLIENTS.matcher(command);
        if (command.equals("redis-server")) {
            redis = new RedisProcess(redisPort);
        } else if (command.equals("redis-cli shutdown nosave")) {
            Objects.requireNonNull(redis).kill();
        } else if (command.startsWith("java -jar fairgate.jar serve ")) {
            serve(command.substring("java -jar fairgate.jar ".length()));
        } else if (curl.matches()) {
            ask(curl, printed);
        } else if (loop.matches()) {
            int count = Integer.parseInt(loop.group(1));
            clients.add(new RepeatedRequests(
                    count, url(loop.group(3), loop.group(4)), loop.group(2), Duration.ofSeconds(30)));
        } else if (!command.equals("java Api.java")) {
            fail("an unknown command: " + command);
        }
    }

    private void serve(String arguments) {
        List<String> own = new ArrayList<>(Arrays.asList(arguments.split(" ", -1)));
        own.removeIf(argument -> argument.contains("server.port="));
        own.addAll(FairgateProcess.FREE_PORTS);
        own.add("--spring.data.redis.port=" + redisPort);
        Started gateway = program.start(folder, own.toArray(String[]::new));
        String ports = arguments.contains("8090") ? "809" : "808";
        this.ports.put(ports + "0", gateway.port());
        this.ports.put(ports + "1", gateway.managementPort());
    }

    private String url(String port, String path) {
        return "http://127.0.0.1:%d%s".formatted(Objects.requireNonNull(ports.get(port), port), path);
    }

    private void ask(Matcher curl, List<String> printed) {
        String url = url(curl.group(2), curl.group(3));
        String tenant = curl.group(1);
        if (tenant == null) {
            eventually(() -> assertThat(Answer.to(url).body()).isEqualTo(printed.get(0)));
            return;
        }
        int status = Integer.parseInt(printed.get(0).split(" ", -1)[1]);
        Answer[] answer = {Answer.to(url, "X-Tenant-Id", tenant)};
        // Until the gateway has its permits, or has noticed that Redis is lost; neither takes a unit of a quota.
        eventually(() -> {
            if (answer[0].status() != status) {
                answer[0] = Answer.to(url, "X-Tenant-Id", tenant);
            }
            assertThat(answer[0].status()).isEqualTo(status);
        });
        for (String line : printed.subList(1, printed.size())) {
            String[] field = line.split(": ", 2);
            assertThat(answer[0].field(field[0])).as(field[0]).isEqualTo(field[1]);
        }
    }
}
