package io.fairgate.config.policy;

import io.fairgate.config.yaml.Section;
import io.fairgate.config.yaml.Value;
import io.fairgate.policy.TenantPolicy;
import io.fairgate.tenant.TenantId;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reads {@code metrics}. */
final class MetricsReader {
    private MetricsReader() {}

    /**
     * The members that always have time series of their own.
     *
     * @param known the names that are allowed, including members with mistakes; null when they cannot be determined
     */
    static Set<TenantId> tenants(
            @Nullable Value metrics, @Nullable Set<String> known, Map<TenantId, TenantPolicy> members) {
        Section section = metrics == null ? null : Section.open(metrics, PolicyKeys.METRICS);
        Value list = section == null ? null : section.get("tenants");
        List<Value> items = list == null ? null : list.items("a list of ids of members");
        Set<TenantId> tenants = new LinkedHashSet<>();
        for (Value item : items == null ? List.<Value>of() : items) {
            String name = item.text("the id of a member");
            if (name != null && Names.isKnown(name, known, item, "a member") && TenantId.isWellFormed(name)) {
                tenants.add(TenantId.of(name));
            }
        }
        tenants.retainAll(members.keySet());
        return tenants;
    }
}
