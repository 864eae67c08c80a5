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
final class ShareTree {

    private static final int SWEEP_ABOVE = 64;
    /** The most debts that are kept for tenants that are idle and not configured. */
    static final int MOST_DEBTS_KEPT = 5_000;

    private final SharePath path;
    private final Siblings top;
    private final Supplier<Siblings> newSiblings;
    private final Map<TenantId, Share> tenants = new LinkedHashMap<>();
    private final Map<String, Share> groups = new LinkedHashMap<>();

    private TenantShares shares = TenantShares.EQUAL;
    private long ordinals;
    private int sweepAbove = SWEEP_ABOVE;
    private CalculatedCaps caps = CalculatedCaps.of(null, 1);
    private final CalculatedCap tenantCap = new CalculatedCap();

    ShareTree(SharePath path, Supplier<Siblings> newSiblings) {
        this.path = path;
        this.top = path.top;
        this.newSiblings = newSiblings;
    }

    Collection<Share> tenants() {
        return tenants.values();
    }

    Map<String, Share> groups() {
        return groups;
    }

    @Nullable
    Share tenant(TenantId id) {
        return tenants.get(id);
    }

    TenantShares shares() {
        return shares;
    }

    // ---- new nodes ----

    /** The leaf at which the claim waits; made when it does not exist. */
    Share leafOf(QueuedRequest claim) {
        Share tenant = tenants.computeIfAbsent(claim.tenant(), this::newTenant);
        String requestClass = claim.requestClass();
        boolean isOfClass = requestClass != null && shares.classes().containsKey(requestClass);
        if (tenant.below == null) {
            if (!isOfClass) {
                return tenant;
            }
            tenant = divide(tenant);
        }
        return classOf(tenant, isOfClass ? String.valueOf(requestClass) : "");
    }

    private Share classOf(Share tenant, String name) {
        Siblings classes = tenant.below == null ? top : tenant.below;
        for (Share leaf : classes.all) {
            if (leaf.name.equals(name)) {
                return leaf;
            }
        }
        Share leaf = new Share(++ordinals, shares.ofClass(name), true, null);
        leaf.name = name;
        return addNew(leaf, classes);
    }

    private Share newTenant(TenantId id) {
        Share tenant = new Share(++ordinals, shares.of(id), shares.members().containsKey(id), null);
        tenant.tenant = id;
        tenant.calculatedCap = tenantCap;
        return addNew(tenant, siblingsIn(shares.groups().parents().get(id)));
    }

    private Share newGroup(String name) {
        Share group = new Share(++ordinals, ShareSettings.EQUAL, true, newSiblings.get());
        group.name = name;
        // takeOutMoved puts it below its parent, when all groups exist.
        return addNew(group, top);
    }

    /** A new node starts behind all others, so that it is raised to the virtual time when it becomes backlogged. */
    private static Share addNew(Share share, Siblings siblings) {
        siblings.add(share);
        siblings.setServed(share, -Siblings.LARGEST_ACCOUNT);
        return share;
    }

    private Siblings siblingsIn(@Nullable String group) {
        Share parent = group == null ? path.pool : groups.get(group);
        return parent == null || parent.below == null ? top : parent.below;
    }

    /** Replaces a tenant's leaf by a node with children. The leaf becomes its child for requests without a class. */
    private Share divide(Share leaf) {
        Siblings siblings = leaf.siblings();
        Share tenant = new Share(leaf.ordinal, leaf.settings, leaf.configured, newSiblings.get());
        TenantId id = leaf.tenant;
        Siblings classes = tenant.below;
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
        classes.setServed(leaf, 0);
        classes.occupied = leaf.occupied();
        if (wasBacklogged) {
            siblings.goOn(tenant);
        }
        path.settle(leaf);
        return tenant;
    }

    // ---- removed nodes ----

    /** Forgets a tenant that is idle, not configured, and owes nothing: it would start at the virtual time again anyway. */
    void forgetIfIdle(Share leaf) {
        Share tenant = leaf;
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

    private static boolean isForgettable(Share share) {
        return !share.configured && share.isIdle() && !share.siblings().owes(share);
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
            List<Share> debtors = new ArrayList<>();
            for (Share share : top.present.inOrder()) {
                if (share.tenant != null && !share.configured && share.isIdle()) {
                    debtors.add(share);
                }
            }
            debtors.sort(Comparator.comparingDouble(ShareTree::lag));
            for (int i = 0; i < debtors.size(); i++) {
                if (i >= MOST_DEBTS_KEPT || isForgettable(debtors.get(i))) {
                    remove(debtors.get(i));
                }
            }
            sweepAbove = Math.max(SWEEP_ABOVE, others() + Math.min(others(), MOST_DEBTS_KEPT));
        }
    }

    private void remove(Share tenant) {
        tenant.siblings().remove(tenant);
        tenants.remove(tenant.tenant);
    }

    private static double lag(Share tenant) {
        return tenant.siblings().lag(tenant);
    }

    /** The number of tenants that are not configured. */
    private int others() {
        return tenants.size() - shares.members().size();
    }

    // ---- every node ----

    /** The children of each node that has some, from the deepest nodes up to the pool. */
    List<Siblings> allSiblings() {
        List<Siblings> all = new ArrayList<>();
        collect(top, all);
        return all;
    }

    private static void collect(Siblings siblings, List<Siblings> into) {
        for (Share share : siblings.all) {
            if (share.below != null) {
                collect(share.below, into);
            }
        }
        into.add(siblings);
    }

    /** All leaves, tenant by tenant. */
    List<Share> leaves() {
        List<Share> leaves = new ArrayList<>(tenants.size());
        for (Share tenant : tenants.values()) {
            if (tenant.below == null) {
                leaves.add(tenant);
            } else {
                leaves.addAll(tenant.below.all);
            }
        }
        return leaves;
    }

    void settleAll() {
        for (Siblings siblings : allSiblings()) {
            path.tick(siblings);
            path.touch(siblings);
        }
        // First the parents without a backlogged child. A group without leaves is on no leaf's path, and would stay
        // in the run queue of its parent.
        for (Siblings siblings : allSiblings()) {
            if (siblings.backlog.isEmpty() && siblings.parent().backlogged) {
                path.settle(siblings.parent());
            }
        }
        for (Share leaf : leaves()) {
            path.settle(leaf);
            forgetIfIdle(leaf);
        }
        allSiblings().forEach(siblings -> siblings.present.dropSettled(siblings));
    }

    /** Settles the present nodes only: used when only the calculated cap has changed, which does not affect idle tenants. */
    private void settlePresent(Siblings siblings) {
        for (Share share : siblings.present.inOrder()) {
            if (share.below == null) {
                path.tickUpFrom(share);
                path.settle(share);
                forgetIfIdle(share);
            } else {
                settlePresent(share.below);
                if (share.tenant != null) {
                    forgetIfIdle(share);
                }
            }
        }
    }

    // ---- changes while permits are in use ----

    /** Applies the calculated cap of the present number of active tenants. */
    void followActive() {
        int cap = caps.of(path.active);
        if (cap != tenantCap.permits) {
            tenantCap.permits = cap;
            settlePresent(top);
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
        tenantCap.permits = caps.of(path.active);
        changed.groups().byName().keySet().forEach(name -> groups.computeIfAbsent(name, this::newGroup));
        changed.members().keySet().forEach(id -> tenants.computeIfAbsent(id, this::newTenant));
        path.large.forget();
        List<Siblings> before = allSiblings();
        for (Siblings siblings : before) {
            path.tick(siblings);
            siblings.rebase();
            siblings.stuck = false;
        }
        before.forEach(siblings -> siblings.all.forEach(siblings::noteLag));
        Set<Share> moved = takeOutMoved();
        for (Siblings siblings : allSiblings()) {
            siblings.all.forEach(this::changeSettings);
            siblings.all.forEach(siblings::restoreLag);
            siblings.weighAgain(siblings == top ? Share.weightUnits(changed.others()) : 0);
        }
        recount();
        // A moved node that was backlogged competes again, at its new place and with its lag.
        moved.forEach(share -> share.siblings().goOn(share));
        allSiblings().forEach(Siblings::afterChangeOfAll);
        if (!moved.isEmpty()) {
            allSiblings().forEach(Siblings::levelOut);
        }
    }

    /**
     * Moves each group and tenant below its configured parent.
     *
     * @return the moved nodes that were backlogged, which compete again only after {@link Siblings#goOn}
     */
    private Set<Share> takeOutMoved() {
        Set<Share> competed = new LinkedHashSet<>();
        List.copyOf(groups.entrySet()).forEach(entry -> {
            Share group = entry.getValue();
            ShareGroups.Group settings = shares.groups().byName().get(entry.getKey());
            move(group, siblingsIn(settings == null ? null : settings.parent()), competed);
        });
        tenants.forEach((id, tenant) ->
                move(tenant, siblingsIn(shares.groups().parents().get(id)), competed));
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

    private static void move(Share share, Siblings to, Set<Share> competed) {
        if (share.siblings() != to) {
            takeOut(share, competed);
            to.add(share);
        }
    }

    private static void takeOut(Share share, Set<Share> competed) {
        if (share.backlogged) {
            competed.add(share);
        }
        share.siblings().moveOut(share);
    }

    private void changeSettings(Share share) {
        ShareGroups.Group group = shares.groups().byName().get(share.name);
        if (share.tenant != null) {
            share.setSettings(shares.of(share.tenant));
            share.configured = shares.members().containsKey(share.tenant);
        } else if (groups.get(share.name) == share && group != null) {
            share.setSettings(group.settings());
        } else {
            share.setSettings(shares.ofClass(share.name));
            share.configured = share.name.isEmpty() || shares.classes().containsKey(share.name);
        }
    }

    /** Adds up the counts of the children at each node anew. */
    private void recount() {
        for (Siblings siblings : allSiblings()) {
            Share parent = siblings.parent();
            parent.countNothing();
            siblings.occupied = 0;
            siblings.reserved = 0;
            for (Share share : siblings.all) {
                parent.count(share);
                siblings.occupied += share.occupied();
                siblings.reserved += share.keeps();
            }
            siblings.present.rebuild(siblings.all);
            if (!parent.isPool() && parent.isIdle()) {
                parent.siblings().noteIdle(parent);
            }
        }
    }
}
