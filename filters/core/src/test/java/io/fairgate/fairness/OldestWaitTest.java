package io.fairgate.fairness;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.shares.ShareGroups.Group;
import io.fairgate.shares.ShareSettings;
import io.fairgate.shares.TenantShares;
import io.fairgate.status.PoolStatus.ClassStatus;
import io.fairgate.status.PoolStatus.GroupStatus;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** How long the request waits that has waited longest: of a tenant, of its classes, and of its group. */
class OldestWaitTest {

    private final TestPool pool = new TestPool(
            1,
            TenantShares.EQUAL
                    .withClass("batch", ShareSettings.EQUAL)
                    .withGroup("acme", Group.of(ShareSettings.EQUAL))
                    .withMember(TenantId.of("x"), ShareSettings.EQUAL, "acme")
                    .withMember(TenantId.of("y"), ShareSettings.EQUAL, "acme"));

    private TestRequest ask(String tenant, String requestClass) {
        TestRequest request = TestRequest.of(tenant, requestClass, 1);
        pool.scheduler.enqueue(request, pool.now());
        return request;
    }

    private List<ClassStatus> classes(String tenant) {
        return pool.status(tenant).classes();
    }

    private GroupStatus acme() {
        return pool.scheduler.status(pool.now()).groups().get(0);
    }

    @Test
    void nothing_waits() {
        TestRequest held = pool.hold("x", 1);
        pool.seconds(5);
        assertThat(pool.status("x").oldestWait()).isZero();
        assertThat(acme().oldestWait()).isZero();
        pool.release(held);
    }

    @Test
    void the_oldest_request_counts() {
        TestRequest held = pool.hold("z", 1);
        TestRequest first = ask("x", "batch");
        pool.seconds(3);
        ask("x", "batch");
        ask("x", "");
        ask("y", "");
        pool.seconds(1);

        assertThat(pool.status("x").oldestWait()).isEqualTo(Duration.ofSeconds(4));
        assertThat(pool.status("y").oldestWait()).isEqualTo(Duration.ofSeconds(1));
        assertThat(pool.status("z").oldestWait()).isZero();
        assertThat(acme().oldestWait()).isEqualTo(Duration.ofSeconds(4));
        assertThat(classes("x"))
                .containsExactlyInAnyOrder(
                        new ClassStatus("batch", 0, 2, Duration.ofSeconds(4)),
                        new ClassStatus("", 0, 1, Duration.ofSeconds(1)));

        pool.scheduler.cancel(first, pool.now());
        assertThat(pool.status("x").oldestWait()).isEqualTo(Duration.ofSeconds(1));
        pool.release(held);
    }
}
