package io.fairgate.fairness;

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
 * The nodes by name: which there are, where in the tree they are, and how that changes.
 *
 * <p>A tenant is a leaf until a request of a configured class comes. Then it becomes a node with a leaf for each class,
 * and what it had as a leaf goes on as the leaf of its requests without a class.
 */
final class ShareTree {

    private static final int SWEEP_ABOVE = 64;
    /** Debts of tenants that are idle and not configured. */
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

    // ---- nodes that come ----

    /** The leaf at which the claim is to wait. */
    Share leafOf(Claim claim) {
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
        // Moved to where it belongs once all are there.
        return addNew(group, top);
    }

    /** Who comes new is behind everybody, and so is lifted to the level when it joins. */
    private static Share addNew(Share share, Siblings siblings) {
        siblings.add(share);
        siblings.setServed(share, -Siblings.LARGEST_ACCOUNT);
        return share;
    }

    private Siblings siblingsIn(@Nullable String group) {
        Share parent = group == null ? path.pool : groups.get(group);
        return parent == null || parent.below == null ? top : parent.below;
    }

    /** Puts a node in the place of a tenant that is a leaf, and the leaf below it, as its requests without a class. */
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

    // ---- nodes that go ----

    /** Forgets a tenant that is idle, not configured, and owes nothing: it would come back at the level anyway. */
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
     * Tenants that were ahead when they became idle are forgotten when the level has caught up with them, or they have
     * been idle for as long as debts are remembered. Of the others the largest debts are kept, {@value #MOST_DEBTS_KEPT} of
     * them. At most as many tenants come until the next sweep, so it takes a few steps for each tenant that comes. Tenants
     * that are not configured are in no group, and those that owe are present.
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

    /** How many tenants there are that are not configured. */
    private int others() {
        return tenants.size() - shares.members().size();
    }

    // ---- every node ----

    /** All that have nodes below them, from the deepest up to the pool. */
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

    /** All at which claims wait, tenant by tenant. */
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
        // First those that nobody is in any more, which are on nobody's path: the others would count them.
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

    /** The same where only caps of tenants have changed, of which those that are idle take no notice. */
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

    // ---- what changes while it is in use ----

    /** Tenants have come or gone, on which the caps of all may depend. */
    void followActive() {
        int cap = caps.of(path.active);
        if (cap != tenantCap.permits) {
            tenantCap.permits = cap;
            settlePresent(top);
        }
    }

    /** What a tenant may hold while no other is active. */
    int capAlone(ShareSettings settings) {
        return Math.min(settings.maxInFlight(), Math.max(caps.of(1), settings.guaranteed()));
    }

    /** Changes settings and places; how far each node is ahead or behind stays. */
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
        // With its account at the place where it is now, whoever competed goes on to.
        moved.forEach(share -> share.siblings().goOn(share));
        allSiblings().forEach(Siblings::afterChangeOfAll);
        if (!moved.isEmpty()) {
            allSiblings().forEach(Siblings::levelOut);
        }
    }

    /** Puts everybody to where it belongs; says who of those that moved competed, and does not for now. */
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

    /** Adds up at each node what is below it now. */
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
