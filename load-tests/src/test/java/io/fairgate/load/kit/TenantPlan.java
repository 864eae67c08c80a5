package io.fairgate.load.kit;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What one tenant sends, and what it may expect.
 *
 * @param headers such as the tenant's credential
 * @param paths are used in turn
 * @param load compared with that of the other tenants
 * @param levels of each stage, instead of the stages' own; empty for those
 */
record TenantPlan(
        String name,
        Map<String, String> headers,
        String method,
        List<String> paths,
        @Nullable String body,
        double load,
        List<WrittenLevel> levels,
        Expected expected) {

    TenantPlan {
        headers = Map.copyOf(headers);
        paths = List.copyOf(paths);
        levels = List.copyOf(levels);
    }
}
