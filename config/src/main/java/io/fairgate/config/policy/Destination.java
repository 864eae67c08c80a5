package io.fairgate.config.policy;

import io.fairgate.config.policy.UpstreamsReader.Upstreams;
import io.fairgate.config.yaml.Section;
import io.fairgate.config.yaml.Value;
import io.fairgate.upstream.Instance;
import io.fairgate.upstream.Upstream;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Where the requests of a route go: to one URI, to an upstream of the policy, or to instances that the route lists itself. The last
 * are an upstream with the name of the route.
 *
 * @param uri for Spring Cloud Gateway; null after a mistake, or when the file has it
 * @param own the upstream of this route alone; null when it has none
 */
record Destination(@Nullable String uri, @Nullable Upstream own) {

    static final String URI = "uri";
    static final String UPSTREAM = "upstream";
    static final String URIS = "uris";

    private static final Destination AS_WRITTEN = new Destination(null, null);

    /** Notes mistakes. */
    static Destination read(Section route, Upstreams upstreams) {
        List<String> given =
                Stream.of(URI, UPSTREAM, URIS).filter(route::mentions).toList();
        Value value = route.get(URI);
        if (given.isEmpty()) {
            route.mistake(URI, "missing", "the URI of the upstream, such as http://localhost:9000");
        } else if (given.size() > 1) {
            route.mistake(given.get(1), given.get(1) + " beside " + given.get(0), "one of uri, upstream and uris");
        } else if (value != null && route.has(URI)) {
            UpstreamUri.read(value, route.text(URI, ""), true);
        } else if (route.has(UPSTREAM)) {
            String name = Names.reference(route, UPSTREAM, upstreams.names(), "upstream");
            return name == null ? AS_WRITTEN : new Destination(uriOf(name), null);
        } else if (route.has(URIS)) {
            return ofRoute(route, upstreams);
        }
        return AS_WRITTEN;
    }

    private static Destination ofRoute(Section route, Upstreams upstreams) {
        List<Instance> instances = UpstreamsReader.instances(route, PolicyKeys.ROUTE_INSTANCE);
        String id = route.text("id");
        Value given = route.get("id");
        Set<String> names = upstreams.names();
        if (id == null || given == null || !Names.isAllowed(id, given)) {
            return AS_WRITTEN;
        }
        if (names != null && names.contains(id)) {
            given.mistake(
                    "another id: the instances of this route are an upstream of this name, and upstreams.%s is another one"
                            .formatted(id));
            return AS_WRITTEN;
        }
        return instances.isEmpty() ? AS_WRITTEN : new Destination(uriOf(id), Upstream.of(instances));
    }

    private static String uriOf(String name) {
        return "upstream://" + name;
    }

    /** Whether the requests of a route reach an upstream. */
    static boolean isUpstream(Section route) {
        return route.has(UPSTREAM)
                || route.has(URIS)
                || !route.text(URI, UpstreamUri.NO + ":")
                        .toLowerCase(Locale.ROOT)
                        .startsWith(UpstreamUri.NO + ":");
    }
}
