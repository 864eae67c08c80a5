package io.fairgate.client;

import static io.fairgate.client.Scene.s;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.client.Scene.Signals;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A lease that is held while its server is started anew, and does not know it any more. */
class RestoredLeaseTest {

    private static final LeaseOptions OPTIONS = LeaseOptions.of("a");

    private final Scene scene = new Scene();
    private final Network network = scene.network;

    @Test
    void a_lease_that_the_server_has_forgotten_is_restored_with_a_larger_token() {
        Lease lease = scene.acquire(LeaseOptions.of("a", 2).withHolder("batch-7"));
        long before = lease.token();
        scene.passSeconds(5);
        scene.server.restart(s(60));
        scene.passSeconds(100);

        assertThat(lease.isHeld()).isTrue();
        assertThat(lease.token()).isGreaterThan(before);
        assertThat(scene.server.held()).isEqualTo(2);
        List<ApiRequest> restores = network.sent().stream()
                .map(Network.Sent::call)
                .filter(call -> call.path().endsWith("/restore"))
                .toList();
        assertThat(restores).singleElement().satisfies(call -> {
            assertThat(call.path()).isEqualTo("/v1/leases/" + lease.id() + "/restore");
            assertThat(call.body())
                    .containsEntry("pools", Map.of("a", 2))
                    .containsEntry("ttl", "30000ms")
                    .containsEntry("holder", "batch-7");
        });
        scene.subscribe(lease.release());
        scene.assertNothingLeft();
    }

    @Test
    void a_restore_shows_the_newest_receipt() {
        Lease lease = scene.acquire(OPTIONS);
        String id = lease.id();
        scene.server.restart(s(60));
        scene.passSeconds(11);
        scene.server.restart(s(60));
        scene.passSeconds(11);

        assertThat(lease.isHeld()).isTrue();
        assertThat(receipts()).containsExactly("receipt-" + id + "-1", "receipt-" + id + "-2");
    }

    private List<Object> receipts() {
        return network.sent().stream()
                .map(Network.Sent::call)
                .filter(call -> call.path().endsWith("/restore"))
                .map(call -> requireNonNull(call.body()).getOrDefault("receipt", "none"))
                .toList();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_lease_whose_receipt_is_of_no_use_waits_at_the_server_and_goes_on_when_it_gets_its_permits_in_time(
            boolean hasNewKey) {
        Lease lease = scene.acquire(LeaseOptions.of("a", 2));
        scene.server.restart(s(15));
        scene.server.changeKey(hasNewKey);
        scene.passSeconds(12);
        assertThat(lease.isHeld()).isTrue();
        assertThat(scene.server.held()).isZero();
        assertThat(scene.server.waiting()).isOne();
        scene.passSeconds(100);
        assertThat(lease.isHeld()).isTrue();
        assertThat(scene.server.held()).isEqualTo(2);
        scene.subscribe(lease.release());
        scene.assertNothingLeft();
    }

    @Test
    void a_lease_that_waits_at_the_server_is_lost_when_its_own_time_is_over() {
        Lease lease = scene.acquire(LeaseOptions.of("a", 2));
        Signals<Void> lost = scene.subscribe(lease.lost());
        scene.server.restart(s(60));
        scene.server.changeKey(false);
        scene.passSeconds(28.9);
        assertThat(lease.isHeld()).isTrue();
        scene.passSeconds(0.2);

        assertThat(lease.isHeld()).isFalse();
        assertThat(lost.error)
                .isInstanceOf(LeaseLostException.class)
                .cause()
                .isInstanceOfSatisfying(
                        LeaseException.class, why -> assertThat(why.reason()).isEqualTo("max-wait"));
        assertThat(scene.time.timersLeft()).isZero();
    }

    @Test
    void a_restore_is_tried_again_also_when_only_its_answer_was_lost() {
        Lease lease = scene.acquire(OPTIONS);
        scene.server.restart(s(60));
        network.next(
                "POST",
                network.requestLost(),
                network.answering(ModelServer.problem(503, "starting")),
                network.answerLost());
        scene.passSeconds(60);

        assertThat(lease.isHeld()).isTrue();
        assertThat(scene.server.held()).isOne();
        assertThat(network.mostUnderWay()).isOne();
    }

    @Test
    void a_restore_whose_answer_was_lost_holds_also_when_nothing_can_be_restored_any_more() {
        Lease lease = scene.acquire(OPTIONS);
        scene.server.restart(s(11));
        network.next("POST", network.answerLost(), network.answering(ModelServer.problem(409, "restore-closed")));
        scene.passSeconds(60);

        assertThat(lease.isHeld()).isTrue();
        assertThat(lease.token()).isEqualTo(2);
    }

    @Test
    void a_lease_that_the_server_does_not_restore_is_lost_at_once() {
        Lease lease = scene.acquire(OPTIONS);
        Signals<Void> lost = scene.subscribe(lease.lost());
        scene.server.restart(s(0));
        scene.passSeconds(10);

        assertThat(lease.isHeld()).isFalse();
        assertThat(lost.error).isInstanceOf(LeaseLostException.class).cause().hasMessageContaining("restore-closed");
        assertThat(scene.time.timersLeft()).isZero();
    }

    @Test
    void a_pool_that_is_gone_is_no_reason_to_go_on() {
        Lease lease = scene.acquire(OPTIONS);
        scene.server.restart(s(60));
        network.next("POST", network.answering(ModelServer.problem(404, "unknown-pool")));
        scene.passSeconds(10);

        assertThat(lease.isHeld()).isFalse();
    }

    @Test
    void a_page_that_is_not_found_is_not_taken_for_a_restart() {
        Lease lease = scene.acquire(OPTIONS);
        network.next("PUT", network.answering(ApiResponse.of(404, null, "<html>".getBytes(StandardCharsets.UTF_8))));
        scene.passSeconds(29);

        assertThat(lease.isHeld()).isTrue();
        assertThat(network.sentAt("POST")).hasSize(1);
    }

    @Test
    void a_release_waits_for_a_restore_that_would_undo_it() {
        Lease lease = scene.acquire(OPTIONS);
        scene.server.restart(s(60));
        network.next("POST", network.delayed(s(1), s(1)));
        scene.passSeconds(10.5);
        Signals<Void> released = scene.subscribe(lease.release());
        assertThat(lease.isHeld()).isFalse();
        assertThat(network.sentAt("DELETE")).isEmpty();

        scene.passSeconds(1.5);
        assertThat(released.isComplete).isTrue();
        scene.assertNothingLeft();
    }
}
