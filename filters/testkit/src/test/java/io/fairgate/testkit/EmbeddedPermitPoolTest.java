package io.fairgate.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairgate.fairness.ShareSettings;
import io.fairgate.fairness.TenantShares;
import io.fairgate.permit.HeldPermits;
import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.PoolListener;
import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.embedded.EmbeddedPermitPool;
import io.fairgate.tenant.TenantId;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/** The contract, and what only the embedded pool promises. */
class EmbeddedPermitPoolTest extends PermitPoolContract {

    @Override
    protected PermitPool newPool(PoolSettings settings, TenantShares shares, Scheduler time, PoolListener listener) {
        return new EmbeddedPermitPool("test", settings, shares, time, listener);
    }

    private EmbeddedPermitPool pool(PoolSettings settings) {
        nothingLeft.watch(time);
        return nothingLeft.watch(
                new EmbeddedPermitPool("test", settings, TenantShares.EQUAL, time, new PoolListener() {}));
    }

    @Test
    void reservations_beyond_the_permits_are_refused() {
        PoolSettings two = PoolSettings.ofPermits(2);
        TenantShares tooMuch =
                TenantShares.EQUAL.withMember(TenantId.of("a"), ShareSettings.EQUAL.withGuaranteed(3, 3));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> newPool(two, tooMuch, time, PoolListener.NONE))
                .withMessageContaining("at least 3");
        EmbeddedPermitPool pool = pool(two);
        assertThat(pool.name()).isEqualTo("test");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> pool.reconfigure(two, tooMuch))
                .withMessageContaining("at least 3");
    }

    @Test
    void a_refused_change_changes_nothing_and_a_valid_change_is_complete() {
        TenantShares quarter = TenantShares.EQUAL.withCalculator((permits, active) -> permits / 4);
        EmbeddedPermitPool pool = nothingLeft.watch(
                new EmbeddedPermitPool("test", PoolSettings.ofPermits(40), quarter, time, PoolListener.NONE));
        assertThatThrownBy(() -> pool.reconfigure(PoolSettings.ofPermits(3), quarter))
                .hasMessage("calculator: 0 for 3 permits and 1 active tenants (expected: >= 1)");
        assertThat(pool.settings().permits()).isEqualTo(40);
        assertThat(NothingLeft.statusOf(pool).permits()).isEqualTo(40);

        pool.reconfigure(PoolSettings.ofPermits(3), TenantShares.EQUAL);
        assertThat(pool.settings().permits()).isEqualTo(3);
        assertThat(NothingLeft.statusOf(pool).permits()).isEqualTo(3);
        assertThat(pool.tryAcquire(PermitRequest.of("a").withPermits(4))).isNull();
        HeldPermits all =
                Objects.requireNonNull(pool.tryAcquire(PermitRequest.of("a").withPermits(3)));
        all.release();
    }

    @Test
    void collected_permits_are_not_on_the_fast_path() {
        EmbeddedPermitPool pool = pool(PoolSettings.ofPermits(10));
        HeldPermits held =
                Objects.requireNonNull(pool.tryAcquire(PermitRequest.of("a").withPermits(5)));
        Disposable large = pool.withPermit(PermitRequest.of("b").withPermits(8).withHome(Runnable::run), Mono.never())
                .subscribe();
        for (int i = 0; i < 200; i++) {
            assertThat(NothingLeft.statusOf(pool).waiting()).isOne();
        }
        assertThat(pool.tryAcquire(PermitRequest.of("c"))).isNull();
        held.release();
        assertThat(NothingLeft.statusOf(pool).inFlight()).isEqualTo(8);
        large.dispose();
    }

    /** What the JVM itself throws goes through Reactor as it is. */
    @Test
    void a_work_whose_class_cannot_be_loaded_releases_its_permit() {
        EmbeddedPermitPool pool = pool(PoolSettings.ofPermits(1));
        AtomicInteger cancelled = new AtomicInteger();
        Mono<Integer> broken = new Mono<>() {
            @Override
            public void subscribe(CoreSubscriber<? super Integer> actual) {
                actual.onSubscribe(new CountsCancels(cancelled));
                throw new NoClassDefFoundError("gone");
            }
        };
        List<Throwable> errors = new ArrayList<>();
        pool.withPermit(PermitRequest.of("a"), broken).subscribe(v -> {}, errors::add);
        assertThat(errors).singleElement().satisfies(e -> assertThat(e).hasMessage("gone"));
        assertThat(cancelled).hasValue(1);
    }

    private record CountsCancels(AtomicInteger cancelled) implements Subscription {
        @Override
        public void request(long n) {}

        @Override
        public void cancel() {
            cancelled.incrementAndGet();
        }
    }
}
