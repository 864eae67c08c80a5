package io.fairgate.spring.policyfile;

import io.fairgate.config.model.PolicyFile;
import io.fairgate.config.model.RouteDeclaration;
import io.fairgate.config.model.Warning;
import io.fairgate.permit.PoolSettings;
import io.fairgate.policy.Policy;
import io.fairgate.spring.policyfile.PolicyRoutes.PolicyRoute;
import io.fairgate.spring.upstream.Upstreams;
import io.fairgate.upstream.Instance;
import io.fairgate.upstream.Upstream;
import java.net.URI;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
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

    /** Before the name of an upstream of the policy. */
    private static final String NAMED = "upstream ";

    List<Warning> warnings(String file, PolicyFile policy) {
        Integer connections = settings.getPool().getMaxConnections();
        // Connection pools of other types open as many connections as needed.
        return settings.getPool().getType() == PoolType.FIXED && connections != null
                ? tooMany(PolicyRoutes.of(file, policy.routes()), policy.policy(), connections)
                : List.of();
    }

    /** One warning per upstream, at its first route, because connections are counted for each host and port. */
    private static List<Warning> tooMany(PolicyRoutes routes, Policy policy, int connectionsToEach) {
        Map<String, List<PolicyRoute>> withPools = routes.routes().stream()
                .filter(route -> poolOf(route) != null)
                .collect(Collectors.groupingBy(UpstreamConnections::upstream, LinkedHashMap::new, Collectors.toList()));
        List<Warning> warnings = new ArrayList<>();
        withPools.forEach((upstream, sharing) -> {
            List<String> names = sharing.stream()
                    .flatMap(route -> Stream.ofNullable(poolOf(route)))
                    .distinct()
                    .toList();
            long permits =
                    names.stream().mapToLong(name -> permits(name, policy)).sum();
            RouteDeclaration first = sharing.get(0).declaration();
            Upstream several =
                    upstream.startsWith(NAMED) ? policy.upstreams().get(upstream.substring(NAMED.length())) : null;
            long connections = (long) connectionsToEach
                    * (several == null ? 1 : several.instances().size());
            if (permits > connections) {
                warnings.add(new Warning(
                        routes.file(),
                        first.line(),
                        "routes[%d].%s".formatted(first.index(), key(first, upstream, several)),
                        "%d permits of %s for %s, but at most %d connections to it (spring.cloud.gateway.server.webflux.httpclient.pool.max-connections)"
                                .formatted(permits, String.join(", ", names), upstream, connections)));
            }
        });
        return warnings;
    }

    /** Of a pool per instance, those of all instances. */
    private static long permits(String name, Policy policy) {
        PoolSettings pool = policy.pools().get(name);
        Upstream perInstanceOf =
                policy.upstreams().get(policy.poolsPerInstance().getOrDefault(name, ""));
        long times = perInstanceOf == null
                ? 1
                : perInstanceOf.instances().stream().mapToLong(Instance::weight).sum();
        return pool == null ? 0 : pool.permits() * times;
    }

    /** The key by which the route names its upstream. */
    private static String key(RouteDeclaration route, String upstream, @Nullable Upstream several) {
        if (several == null) {
            return "uri";
        }
        return upstream.equals(NAMED + route.id()) ? "uris" : "upstream";
    }

    private static String upstream(PolicyRoute route) {
        URI uri = route.definition().getUri();
        String authority = uri == null ? "" : String.valueOf(uri.getAuthority());
        return uri != null && Upstreams.isNamedBy(uri) ? NAMED + authority : authority;
    }

    private static @Nullable String poolOf(PolicyRoute route) {
        for (FilterDefinition filter : route.definition().getFilters()) {
            if ("FairShare".equals(filter.getName())) {
                String named = filter.getArgs().get("pool");
                return named != null ? named : filter.getArgs().get(NameUtils.generateName(0));
            }
        }
        return null;
    }
}
