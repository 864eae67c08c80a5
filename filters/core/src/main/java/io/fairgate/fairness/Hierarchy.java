package io.fairgate.fairness;

import io.fairgate.shares.Entitlements;
import io.fairgate.shares.ShareGroups;
import io.fairgate.shares.ShareSettings;
import io.fairgate.shares.TenantShares;
import io.fairgate.tenant.TenantId;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongFunction;
import java.util.stream.Stream;
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
    private final LongFunction<SchedulingGroup> newGroup;
    final Map<TenantId, SchedulingNode> tenants = new LinkedHashMap<>();
    private final Map<String, SchedulingNode> groups = new LinkedHashMap<>();

    TenantShares shares = TenantShares.EQUAL;
    Entitlements entitlements = new Entitlements(shares);
    private long ordinals;
    private int sweepAbove = SWEEP_ABOVE;
    /** The results of {@link TenantShares#calculatedCaps}. */
    private int[] caps = {ShareSettings.UNBOUNDED};

    /** The nodes of whose weights only a part counts. */
    private final Set<SchedulingNode> partlyCounted = new LinkedHashSet<>();

    private final SchedulingNode.CalculatedCap tenantCap = new SchedulingNode.CalculatedCap();

    Hierarchy(HierarchyWalks walks, LongFunction<SchedulingGroup> newGroup) {
        this.walks = walks;
        this.newGroup = newGroup;
    }

    // ---- new nodes ----

    /** The leaf at which the request waits; made when it does not exist. */
    SchedulingNode leafOf(QueuedRequest request) {
        SchedulingNode tenant = tenants.computeIfAbsent(request.tenant(), this::newTenant);
        String requestClass = request.requestClass();
        String name = requestClass != null && shares.classes().containsKey(requestClass) ? requestClass : "";
        SchedulingGroup classes = tenant.children;
        if (classes == null) {
            if (name.isEmpty()) {
                return tenant;
            }
            classes = divide(tenant, request.tenant());
        }
        return classOf(classes, name);
    }

    private SchedulingNode classOf(SchedulingGroup classes, String name) {
        for (SchedulingNode leaf : classes.all) {
            if (leaf.name.equals(name)) {
                return leaf;
            }
        }
        SchedulingNode leaf = new SchedulingNode(++ordinals, shares.ofClass(name), true, null);
        leaf.name = name;
        classes.addNew(leaf);
        return leaf;
    }

    private SchedulingNode newTenant(TenantId id) {
        SchedulingNode tenant =
                new SchedulingNode(++ordinals, shares.of(id), shares.members().containsKey(id), null);
        tenant.tenant = id;
        tenant.calculatedCap = tenantCap;
        groupIn(shares.groups().parents().get(id)).addNew(tenant);
        return tenant;
    }

    private SchedulingNode newGroupNode(String name) {
        SchedulingNode group = new SchedulingNode(++ordinals, ShareSettings.EQUAL, true, newChildren());
        group.name = name;
        // moveAll puts it below its parent, when all groups exist.
        walks.top.addNew(group);
        return group;
    }

    private SchedulingGroup newChildren() {
        walks.isFlat = false;
        SchedulingGroup children = newGroup.apply(walks.now);
        children.memory = walks.top.memory;
        return children;
    }

    private SchedulingGroup groupIn(@Nullable String group) {
        SchedulingNode parent = group == null ? walks.pool : groups.get(group);
        return parent == null || parent.children == null ? walks.top : parent.children;
    }

    /** Replaces a tenant's leaf by a node with children. The leaf becomes its child for requests without a class. */
    private SchedulingGroup divide(SchedulingNode leaf, TenantId id) {
        SchedulingGroup siblings = leaf.siblings();
        SchedulingGroup classes = newChildren();
        SchedulingNode tenant = new SchedulingNode(leaf.ordinal, leaf.settings, leaf.configured, classes);
        tenant.tenant = id;
        tenant.calculatedCap = tenantCap;
        tenant.continueFrom(leaf);
        if (partlyCounted.remove(leaf)) {
            partlyCounted.add(tenant);
        }
        siblings.add(tenant);
        tenant.idleSince = leaf.idleSince;
        if (leaf.backlogged) {
            siblings.leave(leaf);
            siblings.goOn(tenant);
        }
        siblings.remove(leaf);
        tenants.put(id, tenant);

        leaf.tenant = null;
        leaf.calculatedCap = null;
        leaf.part = 1;
        leaf.setSettings(ShareSettings.EQUAL);
        leaf.configured = true;
        classes.add(leaf);
        leaf.setPermitTime(0, classes.contendedNow);
        classes.occupied = leaf.occupied();
        walks.updateRunQueues(leaf);
        return classes;
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
     * Forgets tenants that are idle and not configured: those that were ahead when they became idle, once the virtual
     * time has caught up with them or they have been idle for the memory of the pool. Of the others the {@value
     * #MOST_DEBTS_KEPT} largest debts are kept. The next sweep follows when the number of tenants has doubled or grown by
     * {@value #MOST_DEBTS_KEPT}, so a sweep costs a few steps for each new tenant. It looks only at present children of
     * the pool: tenants that are not configured are in no group, and those that owe are present.
     */
    void sweepWhenMany() {
        if (others() > sweepAbove) {
            List<SchedulingNode> debtors = walks.top.present.inOrder().stream()
                    .filter(node -> node.tenant != null && !node.configured && node.isIdle())
                    .sorted(Comparator.comparingDouble(walks.top::lag))
                    .toList();
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

    /** The number of tenants that are not configured. */
    private int others() {
        return tenants.size() - shares.members().size();
    }

    // ---- every node ----

    /** The children of each node that has some, from the deepest nodes up to the pool. */
    List<SchedulingGroup> allGroups() {
        List<SchedulingGroup> all = new ArrayList<>();
        collect(walks.top, all);
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
        return tenants.values().stream()
                .flatMap(tenant -> tenant.children == null ? Stream.of(tenant) : tenant.children.all.stream())
                .toList();
    }

    private void updateAllRunQueues() {
        List<SchedulingGroup> all = allGroups();
        all.forEach(walks::touch);
        for (SchedulingGroup group : all) {
            // A group of tenants without leaves is on no leaf's path, and would stay in the run queue of its parent.
            if (group.runQueue.isEmpty() && group.parent().backlogged) {
                walks.updateRunQueues(group.parent());
            }
        }
        for (SchedulingNode leaf : leaves()) {
            walks.updateRunQueues(leaf);
            forgetIfIdle(leaf);
        }
        all.forEach(group -> group.present.dropDebtless());
    }

    /**
     * Updates the present nodes only: used when only the calculated cap has changed, which does not affect idle tenants.
     */
    private void updatePresent(SchedulingGroup siblings) {
        for (SchedulingNode node : siblings.present.inOrder()) {
            if (node.children == null) {
                walks.tickUpFrom(node);
                walks.updateRunQueues(node);
            } else {
                updatePresent(node.children);
            }
            forgetIfIdle(node);
        }
    }

    // ---- changes while permits are in use ----

    /** Has the weights of these tenants and groups count for these parts, and all other weights as a whole. */
    void weigh(Map<TenantId, Double> ofTenants, Map<String, Double> ofGroups) {
        Map<SchedulingNode, Double> parts = new LinkedHashMap<>();
        partlyCounted.forEach(node -> parts.put(node, 1.0));
        ofTenants.forEach((tenant, part) -> putIfKnown(parts, tenants.get(tenant), part));
        ofGroups.forEach((group, part) -> putIfKnown(parts, groups.get(group), part));
        partlyCounted.clear();
        parts.forEach((node, part) -> {
            if (node.part != part && node.siblings().all.contains(node)) {
                walks.tick(node.siblings());
                node.part = part;
                node.siblings().setWeight(node, SchedulingNode.weightUnits(node.settings, part));
            }
            if (part != 1) {
                partlyCounted.add(node);
            }
        });
    }

    private static void putIfKnown(Map<SchedulingNode, Double> parts, @Nullable SchedulingNode node, double part) {
        if (node != null) {
            parts.put(node, part);
        }
    }

    /** Applies the calculated cap of the present number of active tenants. */
    void followActive() {
        int cap = calculatedCap(walks.active);
        if (cap != tenantCap.permits) {
            tenantCap.permits = cap;
            updatePresent(walks.top);
        }
    }

    private int calculatedCap(int active) {
        return caps[Math.min(Math.max(active, 1), caps.length) - 1];
    }

    /** The most permits that a tenant may hold while no other tenant is active. */
    int capAlone(ShareSettings settings) {
        return Math.min(settings.maxInFlight(), Math.max(calculatedCap(1), settings.guaranteed()));
    }

    /**
     * Changes the settings and places of the nodes. How far each node is ahead or behind stays.
     *
     * @param memory the memory of each group from now on, in nanoseconds
     */
    void change(TenantShares changed, int[] calculated, long memory) {
        shares = changed;
        entitlements = new Entitlements(changed);
        caps = calculated;
        tenantCap.permits = calculatedCap(walks.active);
        changed.groups().byName().keySet().forEach(name -> groups.computeIfAbsent(name, this::newGroupNode));
        changed.members().keySet().forEach(id -> tenants.computeIfAbsent(id, this::newTenant));
        walks.large.forget();
        for (SchedulingGroup group : allGroups()) {
            walks.tick(group);
            group.emptyRunQueue();
            group.stuck = false;
        }
        boolean moved = moveAll();
        for (SchedulingGroup group : allGroups()) {
            group.memory = memory;
            group.all.forEach(this::changeSettings);
            group.findHeaviest(group == walks.top ? SchedulingNode.weightUnits(changed.others(), 1) : 0);
        }
        recount();
        allGroups().forEach(SchedulingGroup::fillRunQueue);
        if (moved) {
            allGroups().forEach(SchedulingGroup::rebaseAfterMoves);
        }
        updateAllRunQueues();
    }

    /** Moves each group and tenant below its configured parent; returns whether a backlogged one has moved. */
    private boolean moveAll() {
        boolean moved = false;
        for (Map.Entry<String, SchedulingNode> entry : groups.entrySet()) {
            ShareGroups.Group group = shares.groups().byName().get(entry.getKey());
            if (group == null) {
                entry.getValue().siblings().remove(entry.getValue());
            } else {
                moved |= move(entry.getValue(), groupIn(group.parent()));
            }
        }
        for (SchedulingNode tenant : tenants.values()) {
            moved |= move(tenant, groupIn(shares.groups().parents().get(tenant.tenant)));
        }
        groups.keySet().retainAll(shares.groups().byName().keySet());
        return moved;
    }

    private static boolean move(SchedulingNode node, SchedulingGroup to) {
        boolean moves = node.siblings() != to;
        if (moves) {
            to.moveHere(node);
        }
        return moves && node.backlogged;
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
                parent.idleSince = parent.siblings().contendedNow;
            }
        }
    }
}
