package io.fairgate.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.testkit.ExamplesOfPage;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** The examples of docs/lease-client.md, which are the lines between the marks, run here. */
class LeaseClientExamplesTest {

    private interface Store {
        Mono<Integer> write(List<String> rows, long token);
    }

    private final Loopback loopback = new Loopback(Map.of("orders", 2, "reports", 1));
    private final List<String> log = new ArrayList<>();
    private final List<String> rows = List.of("a", "b");
    private final Store store = (written, token) -> Mono.fromSupplier(() -> {
        log.add("token " + token);
        return written.size();
    });

    @AfterEach
    void close() {
        assertThat(loopback.server.held()).isZero();
        loopback.close();
    }

    @Test
    void the_page_shows_what_is_run_here() throws IOException {
        ExamplesOfPage.assertRunBy(LeaseClientExamplesTest.class, "lease-client.md");
    }

    @Test
    void a_work_with_a_lease() {
        URI uri = loopback.uri();
        String apiKey = "secret";
        // example
        LeaseClient client = LeaseClient.to(LeaseClientSettings.at(uri).withCredential("X-Api-Key", () -> apiKey));

        LeaseOptions options =
                LeaseOptions.of("orders").withMaxWait(Duration.ofMinutes(2)).withHolder("batch-7");
        Mono<Integer> written = client.withLease(options, lease -> store.write(rows, lease.token()));
        // end
        assertThat(loopback.received).isEmpty();
        assertThat(written.block()).isEqualTo(2);
        assertThat(log).containsExactly("token 1");
        assertThat(loopback.received.get(0).fields()).containsEntry("X-Api-Key", "secret");
        client.close();
    }

    @Test
    void without_a_work_to_wrap() {
        LeaseClient client = LeaseClient.to(loopback.uri());
        // example
        Mono<Void> byHand = client.acquire(LeaseOptions.ofAll(Map.of("orders", 2, "reports", 1)))
                .flatMap(lease -> store.write(rows, lease.token()).then(lease.release()));
        // end
        byHand.block();
        assertThat(log).containsExactly("token 1");
        client.close();
    }

    @Test
    void errors_of_leases() {
        LeaseClient client = LeaseClient.to(loopback.uri());
        String other = loopback.server.grantToAnother("orders", 2, Duration.ofMinutes(1));
        // example
        Mono<Integer> orNothing = client.withLease(LeaseOptions.of("orders"), lease -> store.write(rows, lease.token()))
                .onErrorResume(LeaseException.class, refused -> {
                    log.add(refused.status() + " " + refused.reason());
                    return Mono.empty();
                });
        // end
        assertThat(orNothing.blockOptional()).isEmpty();
        assertThat(log).containsExactly("202 max-wait");
        loopback.server.end(other);
        client.close();
    }
}
