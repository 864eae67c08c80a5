package io.fairgate.config.policy;

import io.fairgate.config.model.InvalidPolicyException;
import io.fairgate.config.model.PolicyFile;
import io.fairgate.config.model.RouteDeclaration;
import io.fairgate.config.yaml.KnownKeys;
import io.fairgate.config.yaml.Refusal;
import io.fairgate.config.yaml.Section;
import io.fairgate.config.yaml.Value;
import io.fairgate.permit.PoolSettings;
import io.fairgate.policy.Enforcement;
import io.fairgate.policy.Policy;
import io.fairgate.policy.QuotaTerms;
import io.fairgate.tenant.TenantId;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reads the whole policy part by part, then what must hold between the parts. */
public final class PolicyFileReader {
    private static final String HEADER_STYLES = "one of draft, legacy, none";

    private PolicyFileReader() {}

    /**
     * Reads all of a file.
     *
     * @param filledIn maps each value that came from elsewhere to its placeholder in the file
     * @throws InvalidPolicyException with every mistake of the file
     */
    public static PolicyFile read(Value file, Map<String, String> filledIn) {
        return read(file, PolicyKeys.FILE, filledIn);
    }

    /** Reads all of the properties. Quotas may name any route, because the routes are not among the properties. */
    public static PolicyFile readProperties(Value properties) {
        return read(properties, PolicyKeys.PROPERTIES, Map.of());
    }

    private static PolicyFile read(Value file, KnownKeys known, Map<String, String> filledIn) {
        boolean withRoutes = known.keys().contains("routes");
        TenantsReader.Tenants tenants = TenantsReader.Tenants.NONE;
        Policy policy = new Policy(List.of(), Map.of(), null, Map.of());
        List<RouteDeclaration> routes = List.of();
        Section section = Section.open(file, known);
        if (section != null) {
            Value tenantsValue = section.require("tenants", "who may use the gateway, at least tenants.identify");
            tenants = tenantsValue == null
                    ? tenants
                    : TenantsReader.read(tenantsValue, withRoutes ? RoutesReader.ids(section) : null);
            Value poolsValue = section.get("pools");
            PoolsReader.Pools pools = poolsValue == null
                    ? PoolsReader.Pools.absent(section.mentions("pools"))
                    : PoolsReader.read(poolsValue);
            Value routesValue = withRoutes ? section.get("routes") : null;
            routes = routesValue == null ? routes : RoutesReader.read(routesValue, pools, tenants, filledIn);
            Value enforce = section.get("enforce");
            policy = policy(
                    tenants,
                    pools,
                    headerStyle(section.get("rate-limit-headers")),
                    MetricsReader.tenants(section.get("metrics"), tenants.tenantNames(), tenants.members()),
                    enforce == null || !Boolean.FALSE.equals(enforce.truth()));
            warnOfReservations(policy, pools);
        }
        PolicyFile read = new PolicyFile(policy, routes, file.mistakes().warnings());
        file.mistakes().throwIfAny(read);
        return read;
    }

    /** Removes each pool that the policy refuses and tries again, so that every refused pool is noted. */
    private static Policy policy(
            TenantsReader.Tenants tenants,
            PoolsReader.Pools pools,
            QuotaTerms.HeaderStyle headerStyle,
            Set<TenantId> inMetrics,
            boolean isOn) {
        Map<String, PoolsReader.Pool> accepted = new LinkedHashMap<>(pools.pools());
        while (true) {
            try {
                Map<String, PoolSettings> settings = new LinkedHashMap<>();
                Set<String> dryRunPools = new HashSet<>();
                accepted.forEach((name, pool) -> {
                    settings.put(name, pool.settings());
                    if (!pool.enforced()) {
                        dryRunPools.add(name);
                    }
                });
                return new Policy(
                        tenants.identification(),
                        tenants.members(),
                        tenants.unknown(),
                        settings,
                        tenants.groups(),
                        tenants.classes(),
                        new QuotaTerms(tenants.groupQuotas(), headerStyle),
                        new Enforcement(isOn, dryRunPools),
                        inMetrics);
            } catch (IllegalArgumentException e) {
                Refusal refusal = Refusal.of(e);
                PoolsReader.Pool pool = accepted.remove(poolName(refusal.key()));
                if (pool == null) {
                    throw e;
                }
                pool.section().mistake("permits", refusal);
            }
        }
    }

    /**
     * Warns when most of a pool is reserved. Reserved permits stay idle while their tenants are idle; usually a
     * guarantee is intended, because guaranteed permits are lent out. Pools that the policy refused have a mistake
     * already.
     */
    private static void warnOfReservations(Policy policy, PoolsReader.Pools pools) {
        long reserved = policy.shares().reserved();
        pools.pools().forEach((name, pool) -> {
            int permits = pool.settings().permits();
            if (!policy.pools().containsKey(name)) {
                return;
            } else if (reserved == permits) {
                pool.section()
                        .warn(
                                "permits",
                                "all %d are reserved: a tenant without a reservation never gets one"
                                        .formatted(permits));
            } else if (2 * reserved > permits) {
                pool.section()
                        .warn(
                                "permits",
                                "%d of %d are reserved, and stay idle while their tenants do; what is guaranteed is lent out"
                                        .formatted(reserved, permits));
            }
        });
    }

    private static QuotaTerms.HeaderStyle headerStyle(@Nullable Value value) {
        String word = value == null ? "draft" : value.text(HEADER_STYLES);
        if (word != null) {
            for (QuotaTerms.HeaderStyle style : QuotaTerms.HeaderStyle.values()) {
                if (style.name().toLowerCase(Locale.ROOT).equals(word)) {
                    return style;
                }
            }
            if (value != null) {
                value.mistake(HEADER_STYLES);
            }
        }
        return QuotaTerms.HeaderStyle.DRAFT;
    }

    private static @Nullable String poolName(String key) {
        String start = "pools.";
        String end = ".permits";
        return key.startsWith(start) && key.endsWith(end)
                ? key.substring(start.length(), key.length() - end.length())
                : null;
    }
}
