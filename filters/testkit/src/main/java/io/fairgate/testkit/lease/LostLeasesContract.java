package io.fairgate.testkit.lease;

import static io.fairgate.testkit.lease.LeaseScene.ACME;
import static io.fairgate.testkit.lease.LeaseScene.TERM;
import static io.fairgate.testkit.lease.LeaseScene.TTL;
import static io.fairgate.testkit.lease.LeaseScene.one;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.lease.LeaseHolder;
import io.fairgate.lease.LeaseId;
import io.fairgate.lease.LeasesUnavailableException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** Leases whose backend cannot be reached for a while; only for backends that can be lost. */
public abstract class LostLeasesContract extends LeaseTopic {

    protected LostLeasesContract(LeasesContract backend) {
        super(backend);
    }

    /** Cuts the connection of the leases. */
    protected abstract void lose();

    /** Connects the leases again. */
    protected abstract void regain();

    private void assertUnavailable(CompletableFuture<?> call) {
        assertThat(scene.error(call)).isInstanceOf(LeasesUnavailableException.class);
    }

    @Test
    void every_call_errors_and_is_answered_again_later() {
        LeaseId id = scene.holding(1);
        lose();
        List<Mono<?>> calls = List.of(
                leases.open(LeaseId.random(), LeaseHolder.of(ACME, "batch"), TERM),
                leases.acquire(id, one("other")),
                leases.extend(id, TTL),
                leases.release(id),
                leases.release(id, "pool"),
                leases.forget(id),
                leases.bury(LeaseId.random(), ACME, TTL),
                leases.status(id),
                leases.ids().collectList(),
                leases.ids(ACME).collectList(),
                leases.count(),
                leases.count(ACME),
                leases.waiting("pool"));
        calls.forEach(call -> assertUnavailable(call.toFuture()));
        regain();
        assertThat(scene.status(id).held()).as("a held lease stays held").hasSize(1);
        scene.release(id);
        assertThat(scene.inFlight()).isZero();
    }

    @Test
    void a_call_that_waits_for_permits_errors_and_a_repeated_call_continues_with_its_place() {
        LeaseId all = scene.holding(2);
        LeaseId waiting = scene.opened();
        CompletableFuture<Boolean> call = scene.acquire(waiting, LeaseScene.permits(1, "pool", Duration.ofSeconds(20)));
        scene.assertStillWaits(call);
        lose();
        assertUnavailable(call);
        regain();
        assertThat(scene.waiting()).isOne();
        CompletableFuture<Boolean> repeated =
                scene.acquire(waiting, LeaseScene.permits(1, "pool", Duration.ofSeconds(20)));
        scene.assertStillWaits(repeated);
        assertThat(scene.waiting()).isOne();
        scene.release(all);
        scene.assertHeld(repeated);
        scene.release(waiting);
    }

    @Test
    void a_lease_expires_while_it_cannot_be_reached() {
        LeaseId id = scene.holding(2);
        lose();
        scene.time.advanceBy(TTL);
        regain();
        assertThat(scene.exists(id)).isFalse();
        assertThat(scene.inFlight()).isZero();
    }
}
