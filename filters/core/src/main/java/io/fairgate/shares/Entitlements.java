package io.fairgate.shares;

import io.fairgate.shares.WaterFilling.Demand;
import io.fairgate.tenant.TenantId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The permits that each tenant and each group is entitled to, by what the tenants ask for. From the pool down, {@link
 * WaterFilling} divides the share of each group between the tenants and groups in it: by weight, at least the guarantee, and
 * not more than is asked for. Permits that are reserved and not asked for are given to no other tenant.
 *
 * <p>Immutable. Made once for some shares, in time that grows with the members; {@link #of} takes n log n time for n tenants
 * that ask, however many members there are.
 */
public final class Entitlements {

    private final TenantShares shares;
    /** What the members and groups directly in each group reserve together; under {@link ShareGroups#NO_GROUP} the pool's. */
    private final Map<String, Long> reservedWithin;

    public Entitlements(TenantShares shares) {
        this.shares = shares;
        this.reservedWithin = shares.groups().reservedWithin(shares.members());
    }

    /**
     * The shares of a pool at one moment, in permits.
     *
     * @param permits that were divided: without those that are reserved and not asked for
     * @param tenants the shares of the tenants that ask
     * @param groups the shares of the groups with such a tenant
     */
    public record Division(double permits, Map<TenantId, Double> tenants, Map<String, Double> groups) {

        public Division {
            tenants = Map.copyOf(tenants);
            groups = Map.copyOf(groups);
        }

        public double of(TenantId tenant) {
            return tenants.getOrDefault(tenant, 0.0);
        }

        public double ofGroup(String group) {
            return groups.getOrDefault(group, 0.0);
        }
    }

    /**
     * Divides the permits of a pool.
     *
     * @param asked the permits that tenants hold and ask for. More than {@code max-in-flight} counts as that; other caps, of classes
     *     and of a calculator, must have been applied
     */
    public Division of(int permits, Map<TenantId, Double> asked) {
        Node pool = pool(asked);
        double divided = Math.max(0, permits - pool.idle);
        Map<TenantId, Double> ofTenants = new HashMap<>();
        Map<String, Double> ofGroups = new HashMap<>();
        pool.entitle(divided, ofTenants, ofGroups);
        return new Division(divided, ofTenants, ofGroups);
    }

    /**
     * The permits that are reserved and not asked for.
     *
     * @param asked as in {@link #of}
     */
    public double idle(Map<TenantId, Double> asked) {
        return pool(asked).idle;
    }

    private Node pool(Map<TenantId, Double> asked) {
        Node pool = new Node(null, ShareGroups.NO_GROUP, ShareSettings.EQUAL);
        Map<String, Node> groups = new HashMap<>();
        asked.forEach((tenant, wanted) -> {
            Node leaf = new Node(tenant, ShareGroups.NO_GROUP, shares.of(tenant));
            leaf.want(wanted, 0);
            parent(shares.groups().parents().get(tenant), pool, groups).children.add(leaf);
        });
        pool.wantAsChildren();
        return pool;
    }

    private Node parent(@Nullable String name, Node pool, Map<String, Node> groups) {
        if (name == null) {
            return pool;
        }
        Node known = groups.get(name);
        if (known != null) {
            return known;
        }
        ShareGroups.Group group =
                Objects.requireNonNull(shares.groups().byName().get(name));
        Node made = new Node(null, name, group.settings());
        groups.put(name, made);
        parent(group.parent(), pool, groups).children.add(made);
        return made;
    }

    /** The pool, a group or a tenant that asks for something. */
    private final class Node {

        final @Nullable TenantId tenant;
        final String name;
        final ShareSettings settings;
        final List<Node> children = new ArrayList<>();
        /** Permits held and asked for, as far as the caps allow. */
        double asked;
        /** Permits that are reserved here and not asked for. */
        double idle;

        Node(@Nullable TenantId tenant, String name, ShareSettings settings) {
            this.tenant = tenant;
            this.name = name;
            this.settings = settings;
        }

        /** @param idleWithin permits that are reserved below this node and not asked for */
        void want(double wanted, double idleWithin) {
            asked = Math.min(settings.maxInFlight() - idleWithin, wanted);
            idle = Math.max(idleWithin, settings.reserved() - asked);
        }

        void wantAsChildren() {
            double wanted = 0;
            double idleWithin = reservedWithin();
            for (Node child : children) {
                if (child.tenant == null) {
                    child.wantAsChildren();
                }
                wanted += child.asked;
                idleWithin += child.idle - child.keeps();
            }
            want(wanted, idleWithin);
        }

        private long reservedWithin() {
            return reservedWithin.getOrDefault(name, 0L);
        }

        /** What it reserves in its parent while nothing is asked for at or below it. */
        private long keeps() {
            return tenant == null ? Math.max(settings.reserved(), reservedWithin()) : settings.reserved();
        }

        void entitle(double capacity, Map<TenantId, Double> ofTenants, Map<String, Double> ofGroups) {
            double[] entitled = WaterFilling.shares(
                    capacity, children.stream().map(Node::demand).toList());
            for (int i = 0; i < entitled.length; i++) {
                Node child = children.get(i);
                if (child.tenant == null) {
                    ofGroups.put(child.name, entitled[i]);
                    child.entitle(entitled[i], ofTenants, ofGroups);
                } else {
                    ofTenants.put(child.tenant, entitled[i]);
                }
            }
        }

        private Demand demand() {
            return new Demand(settings.weight(), Math.min(asked, settings.guaranteed()), asked);
        }
    }
}
