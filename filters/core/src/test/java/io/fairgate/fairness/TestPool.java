package io.fairgate.fairness;

import io.fairgate.shares.ShareSettings;
import io.fairgate.shares.TenantShares;
import io.fairgate.status.PoolStatus.TenantStatus;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A scheduler with a clock that the test moves, and a gain of one second. */
final class TestPool {

    /** An unlimited memory, and collections without an end. */
    static final FairnessSettings NEVER_FORGETS =
            new FairnessSettings(FairnessSettings.UNBOUNDED, FairnessSettings.UNBOUNDED);

    final FairScheduler scheduler;
    private final FairnessSettings settings;
    private TenantShares shares;
    private long now;

    TestPool(int permits, TenantShares shares) {
        this(permits, shares, FairnessSettings.USUAL);
    }

    TestPool(int permits, TenantShares shares, FairnessSettings settings) {
        this.shares = shares;
        this.settings = settings;
        scheduler = new FairScheduler(permits, shares, settings, Duration.ofSeconds(1), now);
    }

    /** Settings by name. */
    static TenantShares shares(Map<String, ShareSettings> byName) {
        Map<TenantId, ShareSettings> members = new LinkedHashMap<>();
        byName.forEach((name, settings) -> members.put(TenantId.of(name), settings));
        return new TenantShares(members, ShareSettings.EQUAL);
    }

    static ShareSettings guaranteed(int guaranteed, int reserved) {
        return ShareSettings.EQUAL.withGuaranteed(guaranteed, reserved);
    }

    long now() {
        return now;
    }

    void seconds(double seconds) {
        now += Math.round(seconds * 1e9);
    }

    /** A request that waits; nothing is granted yet. */
    TestRequest ask(String tenant, int permits) {
        TestRequest request = TestRequest.of(tenant, permits);
        scheduler.enqueue(request, now);
        return request;
    }

    List<TestRequest> ask(String tenant, int permits, int times) {
        List<TestRequest> requests = new ArrayList<>();
        for (int i = 0; i < times; i++) {
            requests.add(ask(tenant, permits));
        }
        return requests;
    }

    /** Asks, and requires a grant at once. */
    TestRequest hold(String tenant, int permits) {
        TestRequest request = ask(tenant, permits);
        grant();
        if (!request.isHolding()) {
            throw new AssertionError("%s was not granted".formatted(request));
        }
        return request;
    }

    /** Grants all that can be granted; returns the tenants in the order of their grants. */
    List<String> grant() {
        List<String> tenants = new ArrayList<>();
        scheduler.grant(now, request -> tenants.add(request.tenant().value()));
        return tenants;
    }

    /** Releases the permits, and grants them again. */
    List<String> release(TestRequest... requests) {
        for (TestRequest request : requests) {
            scheduler.release(request, now);
        }
        return grant();
    }

    /** Releases the permits; returns the request that is granted next. */
    TestRequest releaseForNext(TestRequest request) {
        scheduler.release(request, now);
        List<TestRequest> granted = new ArrayList<>();
        scheduler.grant(now, next -> granted.add((TestRequest) next));
        return granted.get(0);
    }

    List<String> cancel(TestRequest request) {
        scheduler.cancel(request, now);
        return grant();
    }

    List<String> resize(int permits) {
        scheduler.reconfigure(permits, shares, settings, now);
        return grant();
    }

    List<String> reconfigure(TenantShares shares) {
        scheduler.reconfigure(scheduler.permits(), shares, settings, now);
        this.shares = shares;
        return grant();
    }

    boolean knows(String tenant) {
        return scheduler.status(now).tenants().stream()
                .anyMatch(t -> t.tenant().value().equals(tenant));
    }

    TenantStatus status(String tenant) {
        return scheduler.status(now).tenants().stream()
                .filter(t -> t.tenant().value().equals(tenant))
                .findFirst()
                .orElseThrow();
    }

    int collecting() {
        return scheduler.status(now).collecting();
    }

    double lagSeconds(String tenant) {
        return status(tenant).lag().toNanos() / 1e9;
    }
}
