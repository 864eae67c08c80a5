package io.fairgate.permit;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.lease.FencingTokens;
import io.fairgate.lease.LeaseHolder;
import io.fairgate.lease.LeaseId;
import io.fairgate.lease.LeaseRequest;
import io.fairgate.lease.LeaseTerm;
import io.fairgate.lease.Leases;
import io.fairgate.lease.embedded.EmbeddedLeases;
import io.fairgate.permit.blocking.BlockingPermits;
import io.fairgate.permit.embedded.EmbeddedPermitPool;
import io.fairgate.replay.Recording;
import io.fairgate.replay.WhatIf;
import io.fairgate.replay.WhatIf.Comparison;
import io.fairgate.replay.WhatIf.Rules;
import io.fairgate.shares.ShareSettings;
import io.fairgate.shares.TenantShares;
import io.fairgate.status.PoolStatus;
import io.fairgate.status.PoolTotals;
import io.fairgate.status.TenantStanding;
import io.fairgate.tenant.TenantId;
import io.fairgate.testkit.ExamplesOfPage;
import io.fairgate.testkit.NothingLeft;
import io.fairgate.time.MonotonicScheduler;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Runs the examples of docs/library.md, which are the lines between the marks. */
class LibraryExamplesTest {

    private final List<String> log = new ArrayList<>();

    @Test
    void the_page_contains_these_examples() throws IOException {
        ExamplesOfPage.assertRunBy(LibraryExamplesTest.class, "library.md");
    }

    private Mono<String> call(String what) {
        return Mono.fromCallable(() -> {
            log.add(what);
            return what;
        });
    }

    @Test
    void first_steps() {
        // example
        PermitPool pool = new EmbeddedPermitPool("database", PoolSettings.ofPermits(10), TenantShares.EQUAL);

        Mono<String> fair = pool.withPermit(PermitRequest.of("acme"), call("select 1"));
        // end
        assertThat(fair.block()).isEqualTo("select 1");
    }

    @Test
    void the_tenant_from_the_context() {
        PermitPool pool = new EmbeddedPermitPool("database", PoolSettings.ofPermits(10), TenantShares.EQUAL);
        // example
        Mono<String> somewhereDeepInside = pool.withPermit(call("select 2"));

        Mono<String> atTheEdge = somewhereDeepInside.contextWrite(c -> c.put(PermitPool.TENANT, TenantId.of("acme")));
        // end
        assertThat(atTheEdge.block()).isEqualTo("select 2");
    }

    @Test
    void settings_of_tenants() {
        // example
        TenantShares shares = new TenantShares(
                Map.of(
                        TenantId.of("acme"), ShareSettings.ofWeight(4).withGuaranteed(3, 1),
                        TenantId.of("batch"), ShareSettings.ofWeight(1).withMaxInFlight(5)),
                ShareSettings.EQUAL);
        PoolSettings settings = PoolSettings.ofPermits(10)
                .withMaxWaiting(500)
                .withMaxWait(Duration.ofSeconds(1))
                .withMaxHold(Duration.ofSeconds(30));
        PermitPool pool = new EmbeddedPermitPool("database", settings, shares);
        // end
        assertThat(pool.withPermit(PermitRequest.of("batch"), Mono.just(1)).block())
                .isEqualTo(1);
    }

    @Test
    void a_share_of_ones_own() {
        // example
        TenantShares shares =
                TenantShares.EQUAL.withCalculator((permits, active) -> Math.max(1, permits / (active + 1)));
        // end
        EmbeddedPermitPool pool = new EmbeddedPermitPool("database", PoolSettings.ofPermits(4), shares);
        HeldPermits first = pool.tryAcquire(PermitRequest.of("a"));
        HeldPermits second = pool.tryAcquire(PermitRequest.of("a"));
        assertThat(first).isNotNull();
        assertThat(second).isNotNull();
        assertThat(pool.tryAcquire(PermitRequest.of("a"))).isNull();
        assertThat(pool.tryAcquire(PermitRequest.of("b"))).isNotNull();
    }

    @Test
    void requests_that_cost_more_or_have_less_time() {
        PermitPool pool = new EmbeddedPermitPool("database", PoolSettings.ofPermits(10), TenantShares.EQUAL);
        Flux<String> rows = Flux.just("a", "b");
        // example
        PermitRequest request = PermitRequest.of("acme").withPermits(3).withMaxWait(Duration.ofMillis(200));

        Flux<String> report = pool.withPermit(request, rows).onErrorResume(PermitRefusedException.class, refused -> {
            log.add(refused.reason() + " after " + refused.waited());
            return Flux.empty();
        });
        // end
        assertThat(report.collectList().block()).containsExactly("a", "b");
        try (HeldPermits all = pool.tryAcquire(PermitRequest.of("other").withPermits(10))) {
            assertThat(all).isNotNull();
            assertThat(report.collectList().block()).isEmpty();
            assertThat(log).singleElement().asString().startsWith("MAX_WAIT after PT");
        }
    }

    @Test
    void without_a_work_to_wrap() {
        PermitPool pool = new EmbeddedPermitPool("database", PoolSettings.ofPermits(10), TenantShares.EQUAL);
        // example
        try (HeldPermits held = pool.tryAcquire(PermitRequest.of("acme"))) {
            log.add(held == null ? "no free permit" : "at work");
        }

        Mono<String> byHand = pool.acquire(PermitRequest.of("acme"))
                .flatMap(handle -> Mono.using(() -> handle, held -> call("select 3"), HeldPermits::release));
        // end
        assertThat(log).containsExactly("at work");
        assertThat(byHand.block()).isEqualTo("select 3");
    }

    private String query(String what) {
        return what;
    }

    @Test
    void code_that_blocks() throws Exception {
        PermitPool pool = new EmbeddedPermitPool("database", PoolSettings.ofPermits(10), TenantShares.EQUAL);
        // example
        BlockingPermits permits = new BlockingPermits(pool);

        String row = permits.call(PermitRequest.of("acme"), () -> query("select 4"));

        try (HeldPermits held = permits.acquire(PermitRequest.of("acme").withPermits(2))) {
            log.add(query("select 5") + " with " + held.permits());
        }
        // end
        assertThat(row).isEqualTo("select 4");
        assertThat(log).containsExactly("select 5 with 2");
        assertThat(NothingLeft.statusOf(pool).inFlight()).isZero();
    }

    @Test
    void holders_that_may_never_come_back() {
        PermitPool pool = new EmbeddedPermitPool("database", PoolSettings.ofPermits(10), TenantShares.EQUAL);
        // example
        Leases leases = new EmbeddedLeases(
                Map.of("database", pool)::get, MonotonicScheduler.INSTANCE, new FencingTokens(InstantSource.system()));
        LeaseId job = LeaseId.random();
        LeaseTerm term = new LeaseTerm(Duration.ofSeconds(30), Duration.ofHours(1));
        LeaseRequest two = LeaseRequest.of("database", 2, Duration.ofSeconds(5), Duration.ofSeconds(30));

        Mono<Boolean> held = leases.open(job, LeaseHolder.of(TenantId.of("acme"), "nightly"), term)
                .then(leases.acquire(job, two)); // false: it still waits, and keeps its place
        // end
        assertThat(held.block()).isTrue();
        assertThat(NothingLeft.statusOf(pool).inFlight()).isEqualTo(2);
        assertThat(leases.release(job).block()).isTrue();
        assertThat(NothingLeft.statusOf(pool).inFlight()).isZero();
    }

    @Test
    void looking_at_it_and_changing_it() {
        PoolSettings settings = PoolSettings.ofPermits(10);
        // example
        PoolStatistics statistics = new PoolStatistics();
        PermitPool pool = new EmbeddedPermitPool(
                "database", settings, TenantShares.EQUAL, MonotonicScheduler.INSTANCE, statistics);

        Mono<PoolStatus> now = pool.snapshot();
        Mono<PoolTotals> asAWhole = pool.totals();
        Mono<TenantStanding> ofOne = pool.standing(TenantId.of("acme"));

        Mono<Void> changed = pool.reconfigure(PoolSettings.ofPermits(20), TenantShares.EQUAL);
        Mono<Void> closed = pool.close(Duration.ofSeconds(10));
        // end
        pool.withPermit(PermitRequest.of("acme"), Mono.just(1)).block();
        changed.block();
        assertThat(now.map(PoolStatus::permits).block()).isEqualTo(20);
        assertThat(asAWhole.map(PoolTotals::permits).block()).isEqualTo(20);
        assertThat(ofOne.map(TenantStanding::weight).block()).isEqualTo(1);
        assertThat(statistics.granted()).isOne();
        closed.block();
    }

    @Test
    void comparing_settings() {
        // example
        PoolSettings settings = PoolSettings.ofPermits(10);
        Recording recording = new Recording(50_000, MonotonicScheduler.INSTANCE);
        PermitPool pool = new EmbeddedPermitPool(
                "database", settings, TenantShares.EQUAL, MonotonicScheduler.INSTANCE, recording);

        Rules inForce = new Rules(settings, TenantShares.EQUAL);
        Rules candidate = new Rules(settings.withPermits(5), TenantShares.EQUAL);
        List<Comparison> tenants = WhatIf.compare(recording.read(Duration.ofMinutes(5)), inForce, candidate);
        // end
        assertThat(tenants).isEmpty();
        pool.withPermit(PermitRequest.of("acme"), Mono.just(1)).block();
        assertThat(WhatIf.compare(recording.read(Duration.ofMinutes(5)), inForce, candidate))
                .singleElement()
                .satisfies(acme -> assertThat(acme.tenant()).isEqualTo(TenantId.of("acme")));
    }
}
