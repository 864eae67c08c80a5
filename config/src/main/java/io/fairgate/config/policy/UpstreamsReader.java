package io.fairgate.config.policy;

import io.fairgate.config.yaml.KnownKeys;
import io.fairgate.config.yaml.Section;
import io.fairgate.config.yaml.Value;
import io.fairgate.upstream.Balance;
import io.fairgate.upstream.HealthCheck;
import io.fairgate.upstream.HealthRules;
import io.fairgate.upstream.Instance;
import io.fairgate.upstream.Upstream;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reads {@code upstreams}, and the instances of a route. */
final class UpstreamsReader {

    static final String URI_MEANING = "the URI of an instance, such as http://10.0.0.11:9000";

    private static final int HTTP_PORT = 80;
    private static final int HTTPS_PORT = 443;

    private UpstreamsReader() {}

    /**
     * @param upstreams those without a mistake
     * @param names the upstreams that routes may name, including upstreams with mistakes; null when they cannot be determined
     */
    record Upstreams(
            Map<String, Upstream> upstreams, @Nullable Set<String> names) {}

    static Upstreams read(Section file) {
        Map<String, Upstream> upstreams = new LinkedHashMap<>();
        file.entries("upstreams").forEach((name, value) -> {
            boolean isNamed = Names.isAllowed(name, value);
            Section section = Section.open(value, PolicyKeys.UPSTREAM);
            List<Instance> instances = instances(section, PolicyKeys.INSTANCE);
            Upstream upstream = upstream(section, instances);
            if (isNamed && upstream != null) {
                upstreams.put(name, upstream);
            }
        });
        return new Upstreams(upstreams, file.names("upstreams"));
    }

    private static @Nullable Upstream upstream(Section section, List<Instance> instances) {
        HealthRules health = health(section.get("health"));
        Value given = section.get("check");
        HealthCheck check = given == null ? null : check(given);
        return instances.isEmpty()
                ? null
                : section.accepted(upstream -> new Upstream(
                        instances,
                        upstream.word("balance", Balance.LEAST_REQUESTS),
                        health,
                        check,
                        upstream.integer("retries", Upstream.USUAL_RETRIES)));
    }

    /**
     * The instances that {@code uris} lists; none when there are none without a mistake.
     *
     * @param keys those of an instance that has a weight
     */
    static List<Instance> instances(Section section, KnownKeys keys) {
        List<Instance> instances = new ArrayList<>();
        Map<URI, Value> given = new HashMap<>();
        for (Value item : section.items("uris")) {
            Instance instance = instance(item, keys);
            if (instance == null) {
                continue;
            }
            Value other = given.putIfAbsent(instance.uri(), item);
            if (other != null) {
                item.mistake("each instance once, with a weight; %s has this one".formatted(other.place()));
            } else if (!instances.isEmpty()
                    && instance.isSecure() != instances.get(0).isSecure()) {
                item.mistake("all instances with TLS (https), or all without (http)");
            } else if (instances.size() == Upstream.MAX_INSTANCES) {
                item.mistake("at most %d instances".formatted(Upstream.MAX_INSTANCES));
                break;
            } else {
                instances.add(instance);
            }
        }
        return instances;
    }

    private static @Nullable Instance instance(Value item, KnownKeys keys) {
        if (!item.isMapping()) {
            String text = item.text(URI_MEANING);
            URI uri = text == null ? null : UpstreamUri.read(item, text, false);
            return uri == null ? null : new Instance(overHttp(uri), 1);
        }
        Section section = Section.open(item, keys);
        Value given = section.get("uri");
        String text = section.text("uri");
        URI uri = given == null || text == null ? null : UpstreamUri.read(given, text, false);
        return uri == null ? null : new Instance(overHttp(uri), section.integer("weight", 1));
    }

    /** Equal for all spellings of one address: {@code ws} is a handshake over {@code http}, and 80 is its port. */
    private static URI overHttp(URI uri) {
        boolean isSecure = Instance.isSecure(uri);
        int port = uri.getPort() == (isSecure ? HTTPS_PORT : HTTP_PORT) ? -1 : uri.getPort();
        return URI.create((isSecure ? "https" : "http") + "://" + uri.getHost() + (port < 0 ? "" : ":" + port));
    }

    private static HealthRules health(@Nullable Value value) {
        HealthRules usual = HealthRules.USUAL;
        HealthRules rules = value == null
                ? usual
                : Section.open(value, PolicyKeys.HEALTH).accepted(health -> {
                    Duration aside = health.duration("aside", usual.aside());
                    Duration longest = usual.maxAside().compareTo(aside) < 0 ? aside : usual.maxAside();
                    return new HealthRules(
                            health.integer("failures", usual.failures()), aside, health.duration("max-aside", longest));
                });
        return rules == null ? usual : rules;
    }

    private static @Nullable HealthCheck check(Value value) {
        Section section = Section.open(value, PolicyKeys.CHECK);
        return section.has("path")
                ? section.accepted(check -> new HealthCheck(
                        check.text("path", "/"),
                        check.duration("every", HealthCheck.USUAL_INTERVAL),
                        check.duration("timeout", HealthCheck.USUAL_TIMEOUT)))
                : null;
    }
}
