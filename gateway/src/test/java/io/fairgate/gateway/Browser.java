package io.fairgate.gateway;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A headless Chromium, as the system has it, driven by the protocol of W3C's WebDriver. It ends with the test, also when the JVM is killed.
 */
final class Browser implements AutoCloseable {

    private static final JsonMapper JSON = JsonMapper.builder().build();
    private static final int STARTS = 10;
    private static final Pattern STARTED = Pattern.compile("started successfully on port (\\d+)");

    private final HttpClient client = HttpClient.newHttpClient();
    private final Process driver;
    private final String session;

    Browser() throws IOException {
        StartedDriver started = startDriver();
        driver = started.process();
        String url = "http://127.0.0.1:" + started.port() + "/session";
        // Chromium ends when its pipe is closed.
        Map<String, Object> options =
                Map.of("args", List.of("--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe"));
        Map<String, Object> wanted = Map.of(
                "browserName", "chrome", "goog:chromeOptions", options, "goog:loggingPrefs", Map.of("browser", "ALL"));
        JsonNode made = send(url, Map.of("capabilities", Map.of("alwaysMatch", wanted)));
        session = url + "/" + made.path("sessionId").asString();
    }

    private record StartedDriver(Process process, String port) {}

    /**
     * chromedriver takes any free port of IPv6, and then the port of the same number of IPv4, which another program may have: it ends then,
     * and is started again.
     */
    private static StartedDriver startDriver() throws IOException {
        String said = "";
        for (int i = 0; i < STARTS; i++) {
            Process process = new ProcessBuilder("setpriv", "--pdeathsig", "TERM", "chromedriver", "--port=0")
                    .redirectErrorStream(true)
                    .start();
            said = outputUntilStarted(process);
            Matcher started = STARTED.matcher(said);
            if (started.find()) {
                return new StartedDriver(process, started.group(1));
            }
            if (!said.contains("Address already in use")) {
                break;
            }
        }
        throw new IOException("chromedriver did not start:\n" + said);
    }

    private static String outputUntilStarted(Process driver) throws IOException {
        BufferedReader said =
                new BufferedReader(new InputStreamReader(driver.getInputStream(), StandardCharsets.UTF_8));
        StringBuilder all = new StringBuilder();
        for (String line = said.readLine(); line != null; line = said.readLine()) {
            all.append(line).append('\n');
            if (STARTED.matcher(line).find()) {
                break;
            }
        }
        return all.toString();
    }

    private JsonNode send(String url, Map<String, ?> body) {
        try {
            HttpRequest request = HttpRequest.newBuilder(URI.create(url))
                    .POST(BodyPublishers.ofString(JSON.writeValueAsString(body)))
                    .build();
            HttpResponse<String> answer = client.send(request, BodyHandlers.ofString());
            JsonNode value = JSON.readTree(answer.body()).path("value");
            if (answer.statusCode() != 200) {
                throw new IllegalStateException(value.toString());
            }
            return value;
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    void open(String url) {
        send(session + "/url", Map.of("url", url));
    }

    /** Runs the body of a function in the page; it may return a promise. */
    JsonNode run(String script, Object... arguments) {
        return send(session + "/execute/sync", Map.of("script", script, "args", List.of(arguments)));
    }

    /** The visible text of all elements that match a CSS selector; empty when no element matches. */
    String text(String selector) {
        return run("return [...document.querySelectorAll(arguments[0])].map(e => e.innerText).join('\\n')", selector)
                .asString();
    }

    /** Types as a user does, with the events that follow. */
    void type(String selector, String text) {
        run(
                "const e = document.querySelector(arguments[0]); e.value = arguments[1];"
                        + " e.dispatchEvent(new Event('input', { bubbles: true }))",
                selector,
                text);
    }

    void click(String selector) {
        run("document.querySelector(arguments[0]).click()", selector);
    }

    void size(int width, int height) {
        send(session + "/window/rect", Map.of("width", width, "height", height));
    }

    /** A command of Chromium's own protocol. */
    void chromium(String command, Map<String, ?> parameters) {
        send(session + "/goog/cdp/execute", Map.of("cmd", command, "params", parameters));
    }

    /** What the console has said since the last call. */
    List<String> console() {
        return send(session + "/se/log", Map.of("type", "browser"))
                .valueStream()
                .map(entry -> entry.path("level").asString() + " "
                        + entry.path("message").asString())
                .toList();
    }

    void picture(Path file) throws IOException, InterruptedException {
        HttpRequest request =
                HttpRequest.newBuilder(URI.create(session + "/screenshot")).build();
        String body = client.send(request, BodyHandlers.ofString()).body();
        Files.write(
                file,
                Base64.getDecoder().decode(JSON.readTree(body).path("value").asString()));
    }

    @Override
    public void close() {
        try {
            client.send(HttpRequest.newBuilder(URI.create(session)).DELETE().build(), BodyHandlers.discarding());
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        } finally {
            driver.destroy();
        }
        driver.onExit().join();
    }
}
