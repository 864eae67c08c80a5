package io.fairgate.gateway.policy;

import io.fairgate.config.model.PolicyFile;
import io.fairgate.config.model.RouteDeclaration;
import io.fairgate.config.model.Warning;
import io.fairgate.permit.PoolSettings;
import java.net.URI;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.cloud.gateway.config.HttpClientProperties;
import org.springframework.cloud.gateway.config.HttpClientProperties.Pool.PoolType;
import org.springframework.cloud.gateway.filter.FilterDefinition;
import org.springframework.cloud.gateway.support.NameUtils;

/**
 * Checks that this process opens enough upstream connections for the permits of a policy. A request with a permit but without
 * a connection waits a second time, in the connection pool, which is not fair; and a burst that overflows that queue can
 * leave the pool smaller than before (reactor-netty issue 4392).
 */
record UpstreamConnections(HttpClientProperties settings) {

    List<Warning> warnings(String file, PolicyFile policy) {
        HttpClientProperties.Pool connections = settings.getPool();
        // Connection pools of other types open as many connections as needed.
        return connections.getType() == PoolType.FIXED
                ? tooMany(
                        PolicyRoutes.of(file, policy.routes()), policy.policy().pools(), maxConnections(connections))
                : List.of();
    }

    private static int maxConnections(HttpClientProperties.Pool connections) {
        Integer most = connections.getMaxConnections();
        return most == null ? Integer.MAX_VALUE : most;
    }

    /** One warning per upstream, at its first route, because connections are counted for each host and port. */
    private static List<Warning> tooMany(PolicyRoutes routes, Map<String, PoolSettings> pools, int connections) {
        Map<String, RouteDeclaration> firstRoutes = new LinkedHashMap<>();
        Map<String, Set<String>> poolNames = new LinkedHashMap<>();
        routes.routes().forEach(route -> {
            String pool = poolOf(route.definition().getFilters());
            if (pool != null) {
                String upstream = upstream(route.definition().getUri());
                firstRoutes.putIfAbsent(upstream, route.declaration());
                poolNames.computeIfAbsent(upstream, u -> new LinkedHashSet<>()).add(pool);
            }
        });
        List<Warning> warnings = new ArrayList<>();
        poolNames.forEach((upstream, names) -> {
            long permits = names.stream()
                    .map(pools::get)
                    .mapToLong(pool -> pool == null ? 0 : pool.permits())
                    .sum();
            RouteDeclaration first = firstRoutes.get(upstream);
            if (permits > connections && first != null) {
                warnings.add(new Warning(
                        routes.file(),
                        first.line(),
                        "routes[%d].uri".formatted(first.index()),
                        "%d permits of %s for %s, but at most %d connections to it (spring.cloud.gateway.server.webflux.httpclient.pool.max-connections)"
                                .formatted(permits, String.join(", ", names), upstream, connections)));
            }
        });
        return warnings;
    }

    private static String upstream(@Nullable URI uri) {
        return uri == null ? "" : String.valueOf(uri.getAuthority());
    }

    private static @Nullable String poolOf(List<FilterDefinition> filters) {
        for (FilterDefinition filter : filters) {
            if ("FairShare".equals(filter.getName())) {
                String named = filter.getArgs().get("pool");
                return named != null ? named : filter.getArgs().get(NameUtils.generateName(0));
            }
        }
        return null;
    }
}
