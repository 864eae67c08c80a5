package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** The tutorials, command by command. */
@Tag("long")
class TutorialsIT {

    private final Path folder;

    @RegisterExtension
    final FairgateProcess program = new FairgateProcess();

    @RegisterExtension
    final ScriptedUpstream upstream = new ScriptedUpstream();

    TutorialsIT(@TempDir Path folder) {
        this.folder = folder;
    }

    private int run(String page) throws Exception {
        Tutorial tutorial = new Tutorial(page, program, upstream.url(), folder);
        try {
            return tutorial.run();
        } finally {
            tutorial.stopClients();
        }
    }

    @Test
    void a_quick_start() throws Exception {
        MeasuredWork work = new MeasuredWork();
        ScriptedUpstream.Script answer = exchange -> {
            work.work("api", 1, 50);
            exchange.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello acme");
        };
        upstream.on("/hello", answer);
        assertThat(run("quick-start.md")).isEqualTo(12);
        assertThat(work.highest()).isEqualTo(8);
    }

    @Test
    void a_quota_for_each_customer() throws Exception {
        assertThat(run("customer-quotas.md")).isEqualTo(12);
        assertThat(upstream.requests()).hasSize(6);
    }

    @Test
    void a_batch_job_beside_an_api() throws Exception {
        MeasuredWork work = new MeasuredWork();
        upstream.on("/orders", work.of("api", 50));
        assertThat(run("batch-job.md")).isEqualTo(9);
        assertThat(work.highest()).as("requests beside the leases").isLessThanOrEqualTo(4);
    }
}
