package io.fairgate.fairness;

import io.fairgate.shares.CalculatedCaps;
import io.fairgate.shares.ShareGroups;
import io.fairgate.shares.ShareSettings;
import io.fairgate.shares.TenantShares;
import io.fairgate.tenant.TenantId;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The hierarchy: its nodes by name, their places, and how both change.
 *
 * <p>A tenant is a leaf until its first request of a configured class. Then it becomes a node with a leaf for each class,
 * and its old leaf becomes the leaf of its requests without a class.
 */
final class Hierarchy {

    private static final int SWEEP_ABOVE = 64;
    /** The most debts that are kept for tenants that are idle and not configured. */
    static final int MOST_DEBTS_KEPT = 5_000;

    private final HierarchyWalks walks;
    private final SchedulingGroup top;
    private final Supplier<SchedulingGroup> newSiblings;
    private final Map<TenantId, SchedulingNode> tenants = new LinkedHashMap<>();
    private final Map<String, SchedulingNode> groups = new LinkedHashMap<>();

    private TenantShares shares = TenantShares.EQUAL;
    private long ordinals;
    private int sweepAbove = SWEEP_ABOVE;
    private CalculatedCaps caps = CalculatedCaps.of(null, 1);
    private final CalculatedCap tenantCap = new CalculatedCap();

    Hierarchy(HierarchyWalks walks, Supplier<SchedulingGroup> newSiblings) {
        this.walks = walks;
        this.top = walks.top;
        this.newSiblings = newSiblings;
    }

    Collection<SchedulingNode> tenants() {
        return tenants.values();
    }

    Map<String, SchedulingNode> groups() {
        return groups;
    }

    @Nullable
    SchedulingNode tenant(TenantId id) {
        return tenants.get(id);
    }

    TenantShares shares() {
        return shares;
    }

    // ---- new nodes ----

    /** The leaf at which the request waits; made when it does not exist. */
    SchedulingNode leafOf(QueuedRequest request) {
        SchedulingNode tenant = tenants.computeIfAbsent(request.tenant(), this::newTenant);
        String requestClass = request.requestClass();
        boolean isOfClass = requestClass != null && shares.classes().containsKey(requestClass);
        if (tenant.children == null) {
            if (!isOfClass) {
                return tenant;
            }
            tenant = divide(tenant);
        }
        return classOf(tenant, isOfClass ? String.valueOf(requestClass) : "");
    }

    private SchedulingNode classOf(SchedulingNode tenant, String name) {
        SchedulingGroup classes = tenant.children == null ? top : tenant.children;
        for (SchedulingNode leaf : classes.all) {
            if (leaf.name.equals(name)) {
                return leaf;
            }
        }
        SchedulingNode leaf = new SchedulingNode(++ordinals, shares.ofClass(name), true, null);
        leaf.name = name;
        return addNew(leaf, classes);
    }

    private SchedulingNode newTenant(TenantId id) {
        SchedulingNode tenant = new SchedulingNode(++ordinals, shares.of(id), shares.members().containsKey(id), null);
        tenant.tenant = id;
        tenant.calculatedCap = tenantCap;
        return addNew(tenant, groupIn(shares.groups().parents().get(id)));
    }

    private SchedulingNode newGroup(String name) {
        SchedulingNode group = new SchedulingNode(++ordinals, ShareSettings.EQUAL, true, newSiblings.get());
        group.name = name;
        // takeOutMoved puts it below its parent, when all groups exist.
        return addNew(group, top);
    }

    /** A new node starts behind all others, so that it is raised to the virtual time when it becomes backlogged. */
    private static SchedulingNode addNew(SchedulingNode node, SchedulingGroup siblings) {
        siblings.add(node);
        siblings.setPermitTime(node, -SchedulingGroup.LARGEST_ACCOUNT);
        return node;
    }

    private SchedulingGroup groupIn(@Nullable String group) {
        SchedulingNode parent = group == null ? walks.pool : groups.get(group);
        return parent == null || parent.children == null ? top : parent.children;
    }

    /** Replaces a tenant's leaf by a node with children. The leaf becomes its child for requests without a class. */
    private SchedulingNode divide(SchedulingNode leaf) {
        SchedulingGroup siblings = leaf.siblings();
        SchedulingNode tenant = new SchedulingNode(leaf.ordinal, leaf.settings, leaf.configured, newSiblings.get());
        TenantId id = leaf.tenant;
        SchedulingGroup classes = tenant.children;
        if (id == null || classes == null) {
            throw new IllegalStateException("%s is no tenant".formatted(leaf));
        }
        boolean wasBacklogged = leaf.backlogged;
        tenant.continueFrom(leaf);
        long idleSince = leaf.idleSince;
        tenant.tenant = id;
        tenant.calculatedCap = tenantCap;
        if (wasBacklogged) {
            siblings.leave(leaf);
        }
        siblings.remove(leaf);
        siblings.add(tenant);
        tenant.idleSince = idleSince;
        tenants.put(id, tenant);

        leaf.tenant = null;
        leaf.calculatedCap = null;
        leaf.setSettings(ShareSettings.EQUAL);
        leaf.configured = true;
        classes.add(leaf);
        classes.setPermitTime(leaf, 0);
        classes.occupied = leaf.occupied();
        if (wasBacklogged) {
            siblings.goOn(tenant);
        }
        walks.updateRunQueues(leaf);
        return tenant;
    }

    // ---- removed nodes ----

    /** Forgets a tenant that is idle, not configured, and owes nothing: it would start at the virtual time again anyway. */
    void forgetIfIdle(SchedulingNode leaf) {
        SchedulingNode tenant = leaf;
        if (leaf.tenant == null) {
            tenant = leaf.parent();
            if (isForgettable(leaf)) {
                leaf.siblings().remove(leaf);
            }
        }
        if (tenant.tenant != null && isForgettable(tenant)) {
            remove(tenant);
        }
    }

    private static boolean isForgettable(SchedulingNode node) {
        return !node.configured && node.isIdle() && !node.siblings().owes(node);
    }

    /**
     * Forgets tenants that are idle and not configured: those that were ahead when they became idle, once the virtual time
     * has caught up with them or they have been idle for the memory of the pool. Of the others the {@value #MOST_DEBTS_KEPT}
     * largest debts are kept. The next sweep follows when the number of tenants has doubled or grown by
     * {@value #MOST_DEBTS_KEPT}, so a sweep costs a few steps for each new tenant. It looks only at present children of the
     * pool: tenants that are not configured are in no group, and those that owe are present.
     */
    void sweepWhenMany() {
        if (others() > sweepAbove) {
            List<SchedulingNode> debtors = new ArrayList<>();
            for (SchedulingNode node : top.present.inOrder()) {
                if (node.tenant != null && !node.configured && node.isIdle()) {
                    debtors.add(node);
                }
            }
            debtors.sort(Comparator.comparingDouble(Hierarchy::lag));
            for (int i = 0; i < debtors.size(); i++) {
                if (i >= MOST_DEBTS_KEPT || isForgettable(debtors.get(i))) {
                    remove(debtors.get(i));
                }
            }
            sweepAbove = Math.max(SWEEP_ABOVE, others() + Math.min(others(), MOST_DEBTS_KEPT));
        }
    }

    private void remove(SchedulingNode tenant) {
        tenant.siblings().remove(tenant);
        tenants.remove(tenant.tenant);
    }

    private static double lag(SchedulingNode tenant) {
        return tenant.siblings().lag(tenant);
    }

    /** The number of tenants that are not configured. */
    private int others() {
        return tenants.size() - shares.members().size();
    }

    // ---- every node ----

    /** The children of each node that has some, from the deepest nodes up to the pool. */
    List<SchedulingGroup> allGroups() {
        List<SchedulingGroup> all = new ArrayList<>();
        collect(top, all);
        return all;
    }

    private static void collect(SchedulingGroup siblings, List<SchedulingGroup> into) {
        for (SchedulingNode node : siblings.all) {
            if (node.children != null) {
                collect(node.children, into);
            }
        }
        into.add(siblings);
    }

    /** All leaves, tenant by tenant. */
    List<SchedulingNode> leaves() {
        List<SchedulingNode> leaves = new ArrayList<>(tenants.size());
        for (SchedulingNode tenant : tenants.values()) {
            if (tenant.children == null) {
                leaves.add(tenant);
            } else {
                leaves.addAll(tenant.children.all);
            }
        }
        return leaves;
    }

    void updateAllRunQueues() {
        for (SchedulingGroup siblings : allGroups()) {
            walks.tick(siblings);
            walks.touch(siblings);
        }
        // First the parents without a backlogged child. A group without leaves is on no leaf's path, and would stay
        // in the run queue of its parent.
        for (SchedulingGroup siblings : allGroups()) {
            if (siblings.runQueue.isEmpty() && siblings.parent().backlogged) {
                walks.updateRunQueues(siblings.parent());
            }
        }
        for (SchedulingNode leaf : leaves()) {
            walks.updateRunQueues(leaf);
            forgetIfIdle(leaf);
        }
        allGroups().forEach(siblings -> siblings.present.dropDebtless(siblings));
    }

    /** Settles the present nodes only: used when only the calculated cap has changed, which does not affect idle tenants. */
    private void updatePresent(SchedulingGroup siblings) {
        for (SchedulingNode node : siblings.present.inOrder()) {
            if (node.children == null) {
                walks.tickUpFrom(node);
                walks.updateRunQueues(node);
                forgetIfIdle(node);
            } else {
                updatePresent(node.children);
                if (node.tenant != null) {
                    forgetIfIdle(node);
                }
            }
        }
    }

    // ---- changes while permits are in use ----

    /** Applies the calculated cap of the present number of active tenants. */
    void followActive() {
        int cap = caps.of(walks.active);
        if (cap != tenantCap.permits) {
            tenantCap.permits = cap;
            updatePresent(top);
        }
    }

    /** The most permits that a tenant may hold while no other tenant is active. */
    int capAlone(ShareSettings settings) {
        return Math.min(settings.maxInFlight(), Math.max(caps.of(1), settings.guaranteed()));
    }

    /** Changes the settings and places of the nodes. How far each node is ahead or behind stays. */
    void change(TenantShares changed, CalculatedCaps calculated) {
        shares = changed;
        caps = calculated;
        tenantCap.permits = caps.of(walks.active);
        changed.groups().byName().keySet().forEach(name -> groups.computeIfAbsent(name, this::newGroup));
        changed.members().keySet().forEach(id -> tenants.computeIfAbsent(id, this::newTenant));
        walks.large.forget();
        List<SchedulingGroup> before = allGroups();
        for (SchedulingGroup siblings : before) {
            walks.tick(siblings);
            siblings.rebase();
            siblings.stuck = false;
        }
        before.forEach(siblings -> siblings.all.forEach(siblings::noteLag));
        Set<SchedulingNode> moved = takeOutMoved();
        for (SchedulingGroup siblings : allGroups()) {
            siblings.all.forEach(this::changeSettings);
            siblings.all.forEach(siblings::restoreLag);
            siblings.weighAgain(siblings == top ? SchedulingNode.weightUnits(changed.others()) : 0);
        }
        recount();
        // A moved node that was backlogged competes again, at its new place and with its lag.
        moved.forEach(node -> node.siblings().goOn(node));
        allGroups().forEach(SchedulingGroup::afterChangeOfAll);
        if (!moved.isEmpty()) {
            allGroups().forEach(SchedulingGroup::rebaseAfterMoves);
        }
    }

    /**
     * Moves each group and tenant below its configured parent.
     *
     * @return the moved nodes that were backlogged, which compete again only after {@link SchedulingGroup#goOn}
     */
    private Set<SchedulingNode> takeOutMoved() {
        Set<SchedulingNode> competed = new LinkedHashSet<>();
        List.copyOf(groups.entrySet()).forEach(entry -> {
            SchedulingNode group = entry.getValue();
            ShareGroups.Group settings = shares.groups().byName().get(entry.getKey());
            move(group, groupIn(settings == null ? null : settings.parent()), competed);
        });
        tenants.forEach((id, tenant) ->
                move(tenant, groupIn(shares.groups().parents().get(id)), competed));
        groups.entrySet().removeIf(entry -> {
            boolean gone = !shares.groups().byName().containsKey(entry.getKey());
            if (gone) {
                takeOut(entry.getValue(), competed);
                competed.remove(entry.getValue());
            }
            return gone;
        });
        return competed;
    }

    private static void move(SchedulingNode node, SchedulingGroup to, Set<SchedulingNode> competed) {
        if (node.siblings() != to) {
            takeOut(node, competed);
            to.add(node);
        }
    }

    private static void takeOut(SchedulingNode node, Set<SchedulingNode> competed) {
        if (node.backlogged) {
            competed.add(node);
        }
        node.siblings().moveOut(node);
    }

    private void changeSettings(SchedulingNode node) {
        ShareGroups.Group group = shares.groups().byName().get(node.name);
        if (node.tenant != null) {
            node.setSettings(shares.of(node.tenant));
            node.configured = shares.members().containsKey(node.tenant);
        } else if (groups.get(node.name) == node && group != null) {
            node.setSettings(group.settings());
        } else {
            node.setSettings(shares.ofClass(node.name));
            node.configured = node.name.isEmpty() || shares.classes().containsKey(node.name);
        }
    }

    /** Adds up the counts of the children at each node anew. */
    private void recount() {
        for (SchedulingGroup siblings : allGroups()) {
            SchedulingNode parent = siblings.parent();
            parent.countNothing();
            siblings.occupied = 0;
            siblings.reserved = 0;
            for (SchedulingNode node : siblings.all) {
                parent.count(node);
                siblings.occupied += node.occupied();
                siblings.reserved += node.keeps();
            }
            siblings.present.rebuild(siblings.all);
            if (!parent.isPool() && parent.isIdle()) {
                parent.siblings().noteIdle(parent);
            }
        }
    }
}
