package io.fairgate.fairness;

import io.fairgate.shares.Entitlements;
import io.fairgate.shares.Entitlements.Division;
import io.fairgate.status.PoolStatus;
import io.fairgate.status.PoolStatus.ClassStatus;
import io.fairgate.status.PoolStatus.GroupStatus;
import io.fairgate.status.PoolStatus.TenantStatus;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Makes a {@link PoolStatus} from the scheduler's state, of the nodes that {@code selection} selects. An idle node
 * matters to the others only by what it reserves.
 */
final class StatusReport {

    private final HierarchyWalks walks;
    private final List<SchedulingNode> tenants = new ArrayList<>();
    private final List<SchedulingNode> groups = new ArrayList<>();
    /** The permits that each tenant holds and asks for, as far as caps allow. */
    final Map<TenantId, Double> asked = new HashMap<>();

    /** What tenants and groups hold or keep reserved, as {@link #select} counts it. */
    private final long occupied;

    private final Entitlements entitlements;
    private @Nullable Division division;

    /** @param selection selects the children of a node to report: at least all that are not idle */
    StatusReport(
            HierarchyWalks walks,
            Entitlements entitlements,
            Function<SchedulingGroup, List<SchedulingNode>> selection) {
        this.walks = walks;
        occupied = select(walks.top, selection);
        tenants.sort(Comparator.comparingLong(node -> node.ordinal));
        groups.sort(Comparator.comparingLong(node -> node.ordinal));
        for (SchedulingNode tenant : tenants) {
            double permits = asked(tenant);
            if (permits > 0) {
                asked.put(id(tenant), permits);
            }
        }
        this.entitlements = entitlements;
    }

    private Division entitled() {
        Division made = division == null ? entitlements.of(walks.permits, asked) : division;
        division = made;
        return made;
    }

    /**
     * Selects nodes, and counts anew, from the accounts of tenants, what the children of a group hold or keep reserved. Of those that
     * are not selected only the sum is known. Classes keep nothing reserved.
     */
    private long select(SchedulingGroup siblings, Function<SchedulingGroup, List<SchedulingNode>> selection) {
        walks.tick(siblings);
        long occupied = siblings.reserved;
        for (SchedulingNode node : selection.apply(siblings)) {
            long used = node.inFlight;
            if (node.tenant != null) {
                tenants.add(node);
            } else {
                groups.add(node);
                used = select(Objects.requireNonNull(node.children), selection);
            }
            occupied += Math.max(used, node.settings.reserved()) - node.keeps();
        }
        return occupied;
    }

    /** The permits that a node holds and asks for, as far as its cap and the caps of classes allow. */
    private static double asked(SchedulingNode node) {
        double asked = node.children == null
                ? node.inFlight + (double) node.queue.permits()
                : node.children.present.inOrder().stream()
                        .mapToDouble(StatusReport::asked)
                        .sum();
        return Math.min(node.cap(), asked);
    }

    PoolStatus make() {
        QueuedRequest collecting = walks.top.collected.request;
        return new PoolStatus(
                walks.permits,
                walks.pool.inFlight,
                (int) free(),
                walks.pool.waiting,
                collecting == null ? 0 : collecting.permits(),
                Duration.ofNanos(walks.top.gain.nanos()),
                tenants.stream().map(this::tenant).toList(),
                groups.stream().map(this::group).toList());
    }

    /**
     * What no request holds, by the sum that decides about grants, and not as the rest of what tenants hold: so a difference shows. That
     * sum has permits that are reserved and that nothing holds, which are free as well.
     */
    private long free() {
        long reservedAndFree = occupied - walks.pool.inFlight;
        return walks.permits - walks.inSlots - walks.top.occupied + reservedAndFree;
    }

    /** The permits that a tenant is entitled to. */
    double share(SchedulingNode tenant) {
        return entitled().of(id(tenant));
    }

    private static TenantId id(SchedulingNode tenant) {
        return Objects.requireNonNull(tenant.tenant);
    }

    private TenantStatus tenant(SchedulingNode node) {
        return new TenantStatus(
                id(node),
                groupOf(node),
                node.weight(),
                node.inFlight,
                node.waiting,
                share(node),
                Duration.ofNanos(node.heldNanos(walks.now)),
                lag(node),
                oldestWait(node),
                classes(node));
    }

    private List<ClassStatus> classes(SchedulingNode tenant) {
        return tenant.children == null
                ? List.of()
                : tenant.children.all.stream()
                        .map(node -> new ClassStatus(node.name, node.inFlight, node.waiting, oldestWait(node)))
                        .toList();
    }

    private Duration oldestWait(SchedulingNode node) {
        return Duration.ofNanos(walks.now - Math.min(walks.now, oldestQueuedAt(node)));
    }

    private static long oldestQueuedAt(SchedulingNode node) {
        if (node.waiting == 0) {
            return Long.MAX_VALUE;
        }
        QueuedRequest head = node.queue.head();
        return node.children == null
                ? Objects.requireNonNull(head).queuedAt
                : node.children.present.inOrder().stream()
                        .mapToLong(StatusReport::oldestQueuedAt)
                        .min()
                        .orElse(Long.MAX_VALUE);
    }

    private GroupStatus group(SchedulingNode node) {
        return new GroupStatus(
                node.name,
                groupOf(node),
                node.weight(),
                node.inFlight,
                node.waiting,
                entitled().ofGroup(node.name),
                lag(node),
                oldestWait(node));
    }

    private static @Nullable String groupOf(SchedulingNode node) {
        SchedulingNode parent = node.parent();
        return parent.isPool() ? null : parent.name;
    }

    /** The lag of a node. A node that is not backlogged is never reported as behind: it is raised when it joins. */
    private static Duration lag(SchedulingNode node) {
        SchedulingGroup siblings = node.siblings();
        boolean owesNothing = node.isIdle() && siblings.hasIdledEnough(node);
        double behind = owesNothing ? 0 : siblings.lag(node);
        return Duration.ofNanos((long) (node.backlogged ? behind : Math.min(0, behind)));
    }
}
