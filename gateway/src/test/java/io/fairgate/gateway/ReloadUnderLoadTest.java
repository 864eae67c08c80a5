package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.spring.policyfile.PolicyReload;
import io.fairgate.spring.policyfile.PolicyReload.Result;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * A thousand files, good and bad, while requests run: no request fails, the upstream never has more at once than the
 * largest pool allows, and every unit that was used is written down.
 */
@Tag("long")
class ReloadUnderLoadTest {

    private static final int RELOADS = 1_000;
    private static final int CLIENTS = 6;
    private static final int MOST_PERMITS = 3;
    private static final int UNITS = 1_000_000;

    @RegisterExtension
    final RunningGateway gateway = new RunningGateway();

    @RegisterExtension
    final ScriptedUpstream upstream = new ScriptedUpstream();

    private final AtomicInteger passed = new AtomicInteger();
    private final AtomicReference<String> failed = new AtomicReference<>("");
    private volatile boolean over;

    /** A rate so slow that no used unit is refilled during the test. */
    private String policy(SplittableRandom random) {
        return TestPolicy.onePool(
                        upstream.url(), "permits: %d, max-wait: 60s".formatted(random.nextInt(1, MOST_PERMITS + 1)))
                .replace(
                        "plan: {}",
                        "plan: { weight: %d, quotas: [ { name: all, limit: 1000, per: 366d, burst: %d } ] }"
                                .formatted(random.nextInt(1, 9), UNITS))
                .replace("pools:", random.nextBoolean() ? "pools:\n  comes-and-goes: { permits: 1 }" : "pools:")
                .replace(
                        "c: { plan: plan }",
                        random.nextBoolean() ? "c: { plan: plan, weight: 7 }" : "d: { plan: plan }")
                .replace("id: plain", "id: plain-%d".formatted(random.nextInt(3)));
    }

    private static String withMistake(String policy, SplittableRandom random) {
        return switch (random.nextInt(5)) {
            case 0 -> policy.substring(0, random.nextInt(1, policy.indexOf("trusted-from")));
            case 1 -> policy.replace("FairShare=pool", "FairShare=pond");
            case 2 -> policy.replace("permits:", "permit:");
            case 3 -> policy.replace("predicates:", "filters: [ NoSuchFilter ]\n    predicates:");
            default -> policy.replace("a: { plan: plan }", "a: { plan: plan, weight: -1 }");
        };
    }

    private void keepAsking(String tenant) {
        while (!over) {
            Answer answer = Answer.to(gateway.url("/fair/x"), "X-Tenant-Id", tenant);
            passed.incrementAndGet();
            if (answer.status() != 200) {
                failed.set(answer.status() + " " + answer.body());
            }
        }
    }

    private int used(String tenant) {
        double remaining = MetricsPage.of(gateway).value("fairgate_quota_remaining", "tenant", tenant, "quota", "all");
        return UNITS - (int) remaining;
    }

    @Test
    void no_request_fails_and_no_permit_or_balance_is_lost(@TempDir Path folder) {
        SplittableRandom random = new SplittableRandom(4);
        PolicyFileOnDisk file = new PolicyFileOnDisk(folder.resolve("fairgate.yml")).write(policy(random));
        gateway.start(file.path(), "--fairgate.watch-policy=0s", "--logging.level.io.fairgate.gateway=off");
        PolicyReload reload = gateway.context().getBean(PolicyReload.class);

        List<CompletableFuture<Void>> clients = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
            String tenant = i % 2 == 0 ? "a" : "b";
            clients.add(CompletableFuture.runAsync(() -> keepAsking(tenant), task -> new Thread(task).start()));
        }
        int refused = 0;
        for (int i = 0; i < RELOADS; i++) {
            boolean bad = i % 3 == 1;
            String policy = policy(random);
            file.write(bad ? withMistake(policy, random) : policy);
            PolicyReload.Report report = reload.reload();
            assertThat(report.result() == Result.REFUSED).as("%s", report).isEqualTo(bad);
            refused += bad ? 1 : 0;
        }
        over = true;
        clients.forEach(CompletableFuture::join);

        assertThat(failed.get()).isEmpty();
        assertThat(refused).isPositive();
        assertThat(upstream.highestConcurrency()).isLessThanOrEqualTo(MOST_PERMITS);
        gateway.awaitInFlight("pool", 0);
        assertThat(used("a") + used("b")).isEqualTo(passed.get()).isPositive();
    }
}
