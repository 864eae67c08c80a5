package io.fairgate.lease.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.fairgate.lease.FencingTokens;
import io.fairgate.lease.LeaseHolder;
import io.fairgate.lease.LeaseId;
import io.fairgate.lease.LeaseRequest;
import io.fairgate.lease.LeaseTerm;
import io.fairgate.lease.Leases;
import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.PoolListener;
import io.fairgate.permit.PoolRequest;
import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.embedded.EmbeddedPermitPool;
import io.fairgate.shares.ShareSettings;
import io.fairgate.shares.TenantShares;
import io.fairgate.tenant.TenantId;
import io.fairgate.testkit.NothingLeft;
import io.fairgate.testkit.TestTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

/** Leases and requests at one pool: the same fair sharing, whichever way a tenant comes. */
class LeaseFairnessTest {

    private static final TenantId BATCH = TenantId.of("batch");
    private static final TenantId API = TenantId.of("api");
    private static final LeaseTerm TERM = new LeaseTerm(Duration.ofMinutes(1), Duration.ofHours(1));
    private static final Duration LONG = Duration.ofMinutes(30);

    @RegisterExtension
    final NothingLeft nothingLeft = new NothingLeft();

    private final TestTime time = nothingLeft.watch(new TestTime());
    private final Map<TenantId, Double> permitSeconds = new HashMap<>();
    private boolean isOver;

    private final PoolListener used = new PoolListener() {
        @Override
        public void released(PoolRequest request, long heldNanos) {
            permitSeconds.merge(request.tenant(), request.permits() * heldNanos / 1e9, Double::sum);
        }
    };

    private EmbeddedPermitPool pool(int permits, TenantShares shares) {
        PoolSettings settings =
                PoolSettings.ofPermits(permits).withMaxWait(LONG).withMaxHold(LONG);
        return nothingLeft.watch(new EmbeddedPermitPool("pool", settings, shares, time, used));
    }

    private Leases leases(EmbeddedPermitPool pool) {
        return new EmbeddedLeases(Map.of("pool", pool)::get, time, new FencingTokens(() -> Instant.EPOCH));
    }

    private void later(Duration delay, Runnable task) {
        var unused = time.schedule(task, delay.toNanos(), TimeUnit.NANOSECONDS);
    }

    /** Takes, holds, releases, and asks again. */
    private void work(Leases leases, TenantId tenant, int permits, Duration hold) {
        if (isOver) {
            return;
        }
        LeaseId id = LeaseId.random();
        leases.open(id, LeaseHolder.of(tenant, "worker"), TERM).block();
        var unused = leases.acquire(id, LeaseRequest.of("pool", permits, LONG, TERM.ttl()))
                .subscribe(held -> later(hold, () -> {
                    leases.release(id).block();
                    work(leases, tenant, permits, hold);
                }));
    }

    private void request(EmbeddedPermitPool pool, TenantId tenant, Duration hold) {
        if (!isOver) {
            var unused = pool.withPermit(PermitRequest.of(tenant), Mono.delay(hold, time))
                    .subscribe(done -> request(pool, tenant, hold));
        }
    }

    @Test
    void fifty_leases_of_weight_1_and_requests_of_weight_3_use_a_pool_of_ten_as_1_to_3() {
        TenantShares shares =
                TenantShares.EQUAL.withMember(BATCH, ShareSettings.EQUAL).withMember(API, ShareSettings.ofWeight(3));
        EmbeddedPermitPool pool = pool(10, shares);
        Leases leases = leases(pool);
        for (int i = 0; i < 50; i++) {
            work(leases, BATCH, 1, Duration.ofSeconds(4 + i % 5));
        }
        for (int i = 0; i < 40; i++) {
            request(pool, API, Duration.ofMillis(150 + 10 * i));
        }
        time.advanceBy(Duration.ofHours(2));
        double batch = permitSeconds.getOrDefault(BATCH, 0.0);
        double api = permitSeconds.getOrDefault(API, 0.0);
        assertThat(api / (batch + api)).isCloseTo(0.75, within(0.015));
        assertThat(batch + api).as("the pool was never idle").isCloseTo(10 * 7200, within(200.0));
        isOver = true;
        time.advanceBy(Duration.ofHours(1));
    }

    @Test
    void a_lease_of_the_whole_pool_is_not_starved_by_small_ones() {
        EmbeddedPermitPool pool = pool(4, TenantShares.EQUAL);
        Leases leases = leases(pool);
        for (int i = 0; i < 20; i++) {
            work(leases, API, 1, Duration.ofMillis(700 + 13 * i));
        }
        List<String> large = new ArrayList<>();
        LeaseId id = LeaseId.random();
        leases.open(id, LeaseHolder.of(BATCH, "large"), TERM).block();
        var unused =
                leases.acquire(id, LeaseRequest.of("pool", 4, LONG, TERM.ttl())).subscribe(held -> large.add("held"));
        time.advanceBy(Duration.ofSeconds(5));
        assertThat(large).containsExactly("held");
        leases.release(id).block();
        isOver = true;
        time.advanceBy(Duration.ofMinutes(1));
    }

    private static LeaseId ask(Leases leases, int permits) {
        LeaseId id = LeaseId.random();
        leases.open(id, LeaseHolder.of(BATCH, "batch"), new LeaseTerm(Duration.ofHours(1), Duration.ofHours(1)))
                .block();
        var unused = leases.acquire(id, LeaseRequest.of("pool", permits, LONG, Duration.ofHours(1)))
                .subscribe();
        return id;
    }

    @Test
    void a_holder_of_one_lease_that_requests_the_whole_pool_costs_other_tenants_one_wait() {
        EmbeddedPermitPool pool = pool(4, TenantShares.EQUAL);
        Leases leases = leases(pool);
        LeaseId kept = ask(leases, 1);
        LeaseId all = ask(leases, 4);
        List<String> served = new ArrayList<>();
        var unused = pool.withPermit(PermitRequest.of(API), Mono.just("served")).subscribe(served::add);
        assertThat(served).isEmpty();

        // Three permits idle until the budget of 4 times 2 mean holds is used up: 400 ms of permit-time as long as no
        // hold is known. Nothing else happens: it takes the timer of the pool.
        time.advanceBy(Duration.ofMillis(134));
        assertThat(served).containsExactly("served");
        for (int i = 0; i < 100; i++) {
            time.advanceBy(Duration.ofSeconds(i == 0 ? 1 : 7));
            pool.withPermit(PermitRequest.of(API), Mono.just("served"))
                    .subscribe(served::add)
                    .dispose();
        }
        assertThat(served).hasSize(101);

        leases.release(kept).block();
        StepVerifier.create(pool.inFlight()).expectNext(4).verifyComplete();
        leases.release(all).block();
    }

    @Test
    void one_tenant_alone_sees_a_strict_queue_in_which_the_first_one_blocks() {
        EmbeddedPermitPool pool = pool(3, TenantShares.EQUAL);
        Leases leases = leases(pool);
        List<Integer> order = new ArrayList<>();
        int[] permits = {2, 3, 1, 1, 2, 1};
        List<LeaseId> ids = new ArrayList<>();
        for (int i = 0; i < permits.length; i++) {
            int number = i;
            LeaseId id = LeaseId.random();
            ids.add(id);
            leases.open(id, LeaseHolder.of(BATCH, "holder"), TERM).block();
            var unused = leases.acquire(id, LeaseRequest.of("pool", permits[i], LONG, TERM.ttl()))
                    .subscribe(held -> order.add(number));
        }
        assertThat(order).containsExactly(0);
        leases.release(ids.get(0)).block();
        assertThat(order).containsExactly(0, 1);
        leases.release(ids.get(1)).block();
        assertThat(order).containsExactly(0, 1, 2, 3);
        leases.release(ids.get(2)).block();
        assertThat(order).containsExactly(0, 1, 2, 3, 4);
        leases.release(ids.get(3)).block();
        assertThat(order).containsExactly(0, 1, 2, 3, 4, 5);
        leases.release(ids.get(4)).block();
        leases.release(ids.get(5)).block();
    }
}
