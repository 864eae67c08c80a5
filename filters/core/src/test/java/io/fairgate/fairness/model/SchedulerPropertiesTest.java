package io.fairgate.fairness.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.fairness.TestRequest;
import io.fairgate.shares.ShareSettings;
import io.fairgate.tenant.TenantId;
import io.fairgate.testkit.SeededModel;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

/** Properties that hold after every random step, checked against a ledger of the calls. */
class SchedulerPropertiesTest {

    private static void afterEveryStep(Function<PoolTrial, PoolWatch> watch) {
        new SeededModel<Step>(1_000, 200).check(RandomPool.watchedBy(watch));
    }

    @Test
    void p0_permits_in_flight_never_exceed_the_pool_nor_grow_beyond_a_shrunk_pool() {
        afterEveryStep(trial -> new PoolWatch() {
            @Override
            public void granted(TestRequest request) {
                assertThat(trial.inFlight()).as("in flight after %s", request).isLessThanOrEqualTo(trial.permits);
            }

            @Override
            public void stepped() {
                assertThat(trial.scheduler.inFlight()).isEqualTo(trial.inFlight());
            }
        });
    }

    @Test
    void p0_no_grant_uses_permits_reserved_for_others_or_exceeds_its_cap() {
        afterEveryStep(trial -> new PoolWatch() {
            @Override
            public void granted(TestRequest request) {
                int held = trial.inFlight(request.tenant());
                assertThat(held)
                        .isLessThanOrEqualTo(trial.settings(request.tenant()).maxInFlight());
                if (held > trial.settings(request.tenant()).reserved()) {
                    assertThat(available(trial)).as("left after %s", request).isNotNegative();
                }
            }
        });
    }

    @Test
    void p1_no_fitting_request_waits_except_during_a_collection() {
        afterEveryStep(trial -> new PoolWatch() {
            @Override
            public void handedOut(List<TestRequest> granted) {
                long available = available(trial);
                List<TestRequest> heads = heads(trial).stream()
                        .filter(head -> competes(trial, head))
                        .toList();
                List<TestRequest> fitting = heads.stream()
                        .filter(head -> cost(trial, head) <= available)
                        .toList();
                assertThat(fitting)
                        .filteredOn(head -> cost(trial, head) == 0 && available >= 0)
                        .isEmpty();
                if (!fitting.isEmpty() && available >= 0) {
                    Predicate<TestRequest> isCollectedFor = head ->
                            head.permits() == trial.scheduler.status(trial.now).collecting()
                                    && cost(trial, head) > available;
                    assertThat(heads).as("%s fit into %d", fitting, available).anyMatch(isCollectedFor);
                }
            }
        });
    }

    @Test
    void p1_no_collection_begins_without_a_free_permit() {
        afterEveryStep(trial -> new PoolWatch() {
            private int collecting;

            @Override
            public void handedOut(List<TestRequest> granted) {
                int before = collecting;
                collecting = trial.scheduler.status(trial.now).collecting();
                if (before == 0 && collecting > 0) {
                    assertThat(available(trial))
                            .as("free when a collection begins")
                            .isPositive();
                }
            }
        });
    }

    @Test
    void p2_requests_of_one_tenant_are_granted_in_order() {
        afterEveryStep(trial -> new PoolWatch() {
            @Override
            public void granted(TestRequest request) {
                assertThat(trial.waiting)
                        .filteredOn(other -> other.wanted && other.tenant().equals(request.tenant()))
                        .allMatch(other -> other.number > request.number);
            }
        });
    }

    @Test
    void a_cancelled_request_is_never_granted() {
        afterEveryStep(trial -> new PoolWatch() {
            @Override
            public void granted(TestRequest request) {
                assertThat(request.wanted).isTrue();
            }
        });
    }

    private static List<TestRequest> heads(PoolTrial trial) {
        List<TestRequest> heads = new ArrayList<>();
        for (TestRequest request : trial.waiting) {
            if (heads.stream().noneMatch(head -> head.tenant().equals(request.tenant()))) {
                heads.add(request);
            }
        }
        return heads;
    }

    /** Permits that are neither held nor reserved for an idle tenant. */
    private static long available(PoolTrial trial) {
        List<TenantId> tenants = new ArrayList<>(trial.shares.members().keySet());
        trial.holding.stream()
                .map(TestRequest::tenant)
                .filter(id -> !tenants.contains(id))
                .distinct()
                .forEach(tenants::add);
        return trial.permits
                - tenants.stream()
                        .mapToLong(id ->
                                Math.max(trial.inFlight(id), trial.settings(id).reserved()))
                        .sum();
    }

    private static int cost(PoolTrial trial, TestRequest request) {
        int held = trial.inFlight(request.tenant());
        int reserved = trial.settings(request.tenant()).reserved();
        return Math.max(held + request.permits(), reserved) - Math.max(held, reserved);
    }

    /** Whether its cap allows it, and the pool without the permits reserved for others. */
    private static boolean competes(PoolTrial trial, TestRequest request) {
        ShareSettings settings = trial.settings(request.tenant());
        long others = trial.shares.reserved() - settings.reserved();
        return trial.inFlight(request.tenant()) + request.permits() <= settings.maxInFlight()
                && Math.max(request.permits(), settings.reserved()) + others <= trial.permits;
    }
}
