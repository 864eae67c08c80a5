package io.fairgate.fairness.model;

import io.fairgate.fairness.TestRequest;
import io.fairgate.shares.ShareGroups.Group;
import io.fairgate.shares.ShareSettings;
import io.fairgate.shares.TenantShares;
import io.fairgate.tenant.TenantId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A ledger, from the calls alone, of the permits held in a hierarchy, and of the violated bounds. */
final class TreeLedger {

    final List<TestRequest> holding = new ArrayList<>();
    TenantShares shares;

    private final int permits;
    /** The class in which each request arrived: it stays in the queue of that class. */
    private final Map<TestRequest, String> classes = new HashMap<>();

    TreeLedger(int permits, TenantShares shares) {
        this.permits = permits;
        this.shares = shares;
    }

    void arrived(TestRequest request) {
        String name = request.requestClass();
        boolean isOfClass = name != null && shares.classes().containsKey(name);
        classes.put(request, isOfClass ? name : "");
    }

    boolean isInOneQueue(TestRequest one, TestRequest other) {
        return one.tenant().equals(other.tenant()) && classOf(one).equals(classOf(other));
    }

    int capOfClass(TestRequest request) {
        return shares.classes()
                .getOrDefault(classOf(request), ShareSettings.EQUAL)
                .maxInFlight();
    }

    /** Whether there are guarantees: collections within them have no end. */
    boolean guaranteesAnything() {
        return Stream.of(
                        shares.members().values().stream(),
                        shares.classes().values().stream(),
                        shares.groups().byName().values().stream().map(Group::settings))
                .flatMap(settings -> settings)
                .anyMatch(settings -> settings.guaranteed() > 0);
    }

    /** The first node of a request that holds or reserves more than it may, or null. */
    @Nullable
    String exceededBy(TestRequest request) {
        TenantId tenant = request.tenant();
        if (held(tenant, classOf(request)) > capOfClass(request)) {
            return "class " + classOf(request);
        }
        if (held(tenant, null) > shares.of(tenant).maxInFlight()) {
            return "tenant " + tenant;
        }
        for (String name = shares.groups().parents().get(tenant);
                name != null;
                name = group(name).parent()) {
            if (occupied(name) > group(name).settings().maxInFlight()) {
                return "group " + name;
            }
        }
        return occupied(null) > permits ? "pool" : null;
    }

    private String classOf(TestRequest request) {
        return classes.getOrDefault(request, "");
    }

    private Group group(String name) {
        return Objects.requireNonNull(shares.groups().byName().get(name));
    }

    private long held(TenantId tenant, @Nullable String requestClass) {
        return holding.stream()
                .filter(request -> request.tenant().equals(tenant))
                .filter(request -> requestClass == null || requestClass.equals(classOf(request)))
                .mapToLong(TestRequest::permits)
                .sum();
    }

    /** The permits that the children of a group, or of the pool, hold or reserve. */
    private long occupied(@Nullable String group) {
        List<TenantId> tenants = new ArrayList<>(shares.members().keySet());
        holding.stream()
                .map(TestRequest::tenant)
                .filter(id -> !tenants.contains(id))
                .distinct()
                .toList()
                .forEach(tenants::add);
        long sum = tenants.stream()
                .filter(id -> Objects.equals(shares.groups().parents().get(id), group))
                .mapToLong(id -> Math.max(held(id, null), shares.of(id).reserved()))
                .sum();
        for (String below : shares.groups().byName().keySet()) {
            if (Objects.equals(group(below).parent(), group)) {
                sum += Math.max(occupied(below), group(below).settings().reserved());
            }
        }
        return sum;
    }
}
