package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import io.fairgate.gateway.log.RecordFile;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** The outputs of the audit log and of the access log, whose lines are nothing but JSON. */
class RecordOutputTest {

    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();
    private static final String ACCESS_LOG = "--fairgate.access-log=true";

    @RegisterExtension
    final RunningGateway gateway = new RunningGateway();

    @RegisterExtension
    final ScriptedUpstream upstream = new ScriptedUpstream();

    @TempDir
    @SuppressWarnings("NullAway.Init") // by JUnit
    Path folder;

    private void start(String... options) {
        gateway.start(
                TestPolicy.onePool(upstream.url(), "permits: 1"),
                Stream.concat(Stream.of("--logging.level.io.fairgate=info"), Stream.of(options))
                        .toArray(String[]::new));
    }

    /** One request that passes, and one that does not. */
    private void ask() {
        assertThat(Answer.to(gateway.url("/fair/x"), "X-Tenant-Id", "a").status())
                .isEqualTo(200);
        assertThat(Answer.to(gateway.url("/fair/x"), "X-Tenant-Id", "nobody").status())
                .isEqualTo(403);
    }

    private static Map<String, Object> json(String line) {
        return JSON.readValue(line, new TypeReference<>() {});
    }

    private List<String> lines(String file) {
        try {
            return Files.readAllLines(folder.resolve(file));
        } catch (NoSuchFileException notYet) {
            return List.of(); // While a full file is rotated, there is none for a moment.
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private String directory() {
        return "--fairgate.log-files.directory=" + folder;
    }

    private static Logger logger(String name) {
        return (Logger) LoggerFactory.getLogger("io.fairgate." + name);
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void on_standard_output_each_record_is_one_line_of_json(CapturedOutput output) {
        start(ACCESS_LOG);
        ask();
        RunningGateway.eventually(() -> assertThat(output.getOut().lines().filter(line -> line.contains("\"path\":")))
                .hasSize(3));
        assertThat(output.getOut().lines().filter(line -> line.contains("\"path\":")))
                .extracting(RecordOutputTest::json)
                .satisfiesExactlyInAnyOrder(
                        access ->
                                assertThat(access).containsEntry("status", 200).containsEntry("tenant", "a"),
                        access ->
                                assertThat(access).containsEntry("status", 403).containsKey("decisions"),
                        audit -> assertThat(audit)
                                .containsEntry("event", "identity-refused")
                                .containsEntry("enforced", true));
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void with_a_directory_each_log_has_a_file_instead_of_standard_output(CapturedOutput output) {
        start(ACCESS_LOG, directory());
        ask();
        RunningGateway.eventually(() -> assertThat(lines("access.log")).hasSize(2));
        RunningGateway.eventually(() -> assertThat(lines("audit.log")).hasSize(1));
        assertThat(lines("access.log"))
                .extracting(line -> json(line).get("status"))
                .containsExactlyInAnyOrder(200, 403);
        assertThat(json(lines("audit.log").get(0))).containsEntry("reason", "unknown-tenant");
        assertThat(output.getOut()).doesNotContain("\"path\":");
    }

    @Test
    void a_full_file_is_rotated_and_compressed_with_its_day() throws IOException {
        Files.writeString(folder.resolve("audit.log"), "x".repeat(2000));
        start(directory(), "--fairgate.log-files.max-size=1KB");
        ask();
        RunningGateway.eventually(
                () -> assertThat(lines("audit.log")).singleElement().asString().startsWith("{\"event\""));
        RunningGateway.eventually(() -> assertThat(folder.toFile().list())
                .hasSize(2)
                .anySatisfy(name -> assertThat(name).matches("audit\\.\\d{4}-\\d\\d-\\d\\d\\.0\\.log\\.gz")));
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void a_record_lost_on_a_full_disk_is_counted_and_reported_once(CapturedOutput output) throws IOException {
        start(directory());
        RecordFile file = (RecordFile) logger("audit").getAppender("fairgate-audit");
        file.setOutputStream(new OutputStream() {
            @Override
            public void write(int b) throws IOException {
                throw new IOException("No space left on device");
            }
        });
        ask();
        ask();
        RunningGateway.eventually(
                () -> assertThat(MetricsPage.of(gateway).value("fairgate_records_lost_total", "log", "audit"))
                        .isEqualTo(2));
        file.openFile(file.getFile());
        ask();
        RunningGateway.eventually(() -> assertThat(lines("audit.log")).hasSize(2));
        assertThat(json(lines("audit.log").get(0))).containsEntry("reason", "unknown-tenant");
        assertThat(json(lines("audit.log").get(1)))
                .containsEntry("event", "records-lost")
                .containsEntry("count", 2);
        assertThat(output.getOut().lines().filter(line -> line.contains("The audit log")))
                .satisfiesExactly(
                        failed -> assertThat(failed).contains("ERROR", "cannot be written", "No space left on device"),
                        works -> assertThat(works).contains("INFO", "is written again; 2 records were lost"));
    }

    @Test
    void a_file_that_could_not_be_opened_is_opened_for_the_next_record() {
        start(directory());
        RecordFile file = (RecordFile) logger("audit").getAppender("fairgate-audit");
        file.setOutputStream(null);
        ask();
        RunningGateway.eventually(
                () -> assertThat(lines("audit.log")).singleElement().asString().contains("unknown-tenant"));
    }

    @Test
    void a_gateway_writes_every_record_before_its_end_and_resets_the_logs() {
        start(ACCESS_LOG, directory());
        ask();
        gateway.close();
        assertThat(lines("access.log")).hasSize(2);
        for (String name : List.of("audit", "access")) {
            assertThat(logger(name).iteratorForAppenders()).isExhausted();
            assertThat(logger(name).isAdditive()).isTrue();
        }
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void an_operators_own_configuration_of_these_logs_stays_as_it_is(CapturedOutput output) throws IOException {
        Path own = Files.writeString(folder.resolve("own.xml"), """
                <configuration>
                  <appender name="own" class="ch.qos.logback.core.FileAppender">
                    <file>%s</file>
                    <encoder><pattern>own %%msg%%n</pattern></encoder>
                  </appender>
                  <logger name="io.fairgate.audit" additivity="false"><appender-ref ref="own"/></logger>
                </configuration>
                """.formatted(folder.resolve("own.log")));
        start("--logging.config=" + own);
        ask();
        RunningGateway.eventually(() -> assertThat(lines("own.log"))
                .singleElement()
                .asString()
                .startsWith("own {\"event\":\"identity-refused\""));
        assertThat(output.getOut()).doesNotContain("identity-refused");
    }
}
