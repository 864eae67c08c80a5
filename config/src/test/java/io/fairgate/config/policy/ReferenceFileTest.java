package io.fairgate.config.policy;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.config.PolicyReader;
import io.fairgate.config.model.PolicyFile;
import io.fairgate.config.model.RouteDeclaration;
import io.fairgate.config.yaml.KnownKeys;
import io.fairgate.permit.PoolSettings;
import io.fairgate.policy.Identification;
import io.fairgate.policy.IdentitySource;
import io.fairgate.policy.KeySetLocation;
import io.fairgate.policy.TokenRules;
import io.fairgate.quota.Quota;
import io.fairgate.shares.ShareSettings;
import io.fairgate.upstream.HealthCheck;
import io.fairgate.upstream.HealthRules;
import io.fairgate.upstream.Instance;
import io.fairgate.upstream.Upstream;
import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.nodes.MappingNode;
import org.yaml.snakeyaml.nodes.Node;
import org.yaml.snakeyaml.nodes.NodeTuple;
import org.yaml.snakeyaml.nodes.ScalarNode;
import org.yaml.snakeyaml.nodes.SequenceNode;

class ReferenceFileTest {
    private static final Path REFERENCE = Path.of("fairgate.yml");

    static Stream<Path> examples() throws IOException {
        try (Stream<Path> files = Files.list(Path.of("examples"))) {
            return files.sorted().toList().stream();
        }
    }

    @Test
    void the_reference_is_a_policy_without_mistakes() {
        PolicyFile file = PolicyReader.read(REFERENCE);

        assertThat(file.warnings()).isEmpty();
        assertThat(file.policy().members()).hasSize(2);
        assertThat(file.policy().pools()).containsOnlyKeys("orders", "invoices");
        assertThat(file.routes()).extracting(RouteDeclaration::id).containsExactly("orders", "invoices", "exports");
        assertThat(file.policy().upstreams()).containsOnlyKeys("invoices", "exports");
    }

    @ParameterizedTest
    @MethodSource("examples")
    void every_example_is_a_policy_without_mistakes(Path example) {
        PolicyFile file = PolicyReader.read(example);

        assertThat(file.policy().members()).isNotEmpty();
        assertThat(file.routes()).isNotEmpty();
    }

    @Test
    void the_reference_shows_every_key_at_its_place_and_explains_it_there_or_at_another_place() throws IOException {
        String reference = PolicySchema.withBean(Files.readString(REFERENCE));
        Set<String> shown = new HashSet<>();
        collect(new Yaml().compose(new StringReader(reference)), "", shown);

        List<KnownKeys> all = new ArrayList<>(PolicyKeys.ALL);
        all.addAll(PolicyKeys.ARGUMENTS.values());
        List<String> notShown = new ArrayList<>();
        Set<String> notExplained = new TreeSet<>();
        for (KnownKeys known : all) {
            for (String key : known.names()) {
                String at = (known.place().isEmpty() ? "" : known.place() + ".") + key;
                if (!shown.contains(at)) {
                    notShown.add(at);
                }
                boolean isOfSpring = known.equals(PolicyKeys.FILTER) || known.equals(PolicyKeys.PREDICATE);
                if (!isOfSpring
                        && !Pattern.compile("(?m)^ *#.*\\n *(- )?" + key + ":")
                                .matcher(reference)
                                .find()) {
                    notExplained.add(key);
                }
            }
        }
        assertThat(notShown).as("keys that config/fairgate.yml must show").isEmpty();
        assertThat(notExplained)
                .as("keys that need a comment in config/fairgate.yml")
                .isEmpty();
    }

    @Test
    void the_reference_tells_the_ranges_and_defaults_of_the_core() throws IOException {
        String text = Files.readString(REFERENCE).replaceAll("\\s*#\\s*", " ");

        assertThat(text)
                .contains("that wait for a permit. Requests, at least 0. Default: " + PoolSettings.DEFAULT_MAX_WAITING)
                .contains("Default: " + PoolSettings.DEFAULT_MAX_WAIT.toSeconds() + "s.")
                .contains("Default: " + PoolSettings.DEFAULT_MAX_HOLD.toSeconds() + "s.")
                .contains("1 to " + PoolSettings.MAX_PERMITS + ".")
                .contains("at most " + PoolSettings.MAX_DURATION.toDays() + "d")
                .contains("at most " + (int) ShareSettings.MAX_WEIGHT)
                .contains("1 to " + Quota.MAX_LIMIT)
                .contains("the path to it, such as org.tenant. Default: " + TokenRules.DEFAULT_CLAIM)
                .contains("Default: [" + String.join(", ", TokenRules.DEFAULT_ALGORITHMS) + "]")
                .contains("0s to " + TokenRules.MAX_SKEW.toSeconds() + "s. Default: "
                        + TokenRules.DEFAULT_SKEW.toSeconds() + "s.")
                .contains(KeySetLocation.MIN_REFRESH.toSeconds() + "s to " + KeySetLocation.MAX_REFRESH.toDays()
                        + "d. Default: " + KeySetLocation.DEFAULT_REFRESH.toMinutes() + "m.")
                .contains("in Authorization it follows Bearer. Default: " + IdentitySource.Jwt.DEFAULT_HEADER)
                .contains("Default: " + Upstream.USUAL_RETRIES + ".")
                .contains("1 to " + Instance.MAX_WEIGHT + ". Default: 1.")
                .contains("1 to " + HealthRules.MAX_FAILURES + ". Default: " + HealthRules.USUAL.failures() + ".")
                .contains("at most 1d. Default: " + HealthRules.USUAL.aside().toSeconds() + "s.")
                .contains("Default: " + HealthRules.USUAL.maxAside().toMinutes() + "m, or aside if that is longer.")
                .contains("100ms to 1h. Default: " + HealthCheck.USUAL_INTERVAL.toSeconds() + "s.")
                .contains("at most 1h. Default: " + HealthCheck.USUAL_TIMEOUT.toSeconds() + "s.")
                .contains("`none` for no such header. Default: " + Identification.DEFAULT_FORWARD_AS);
    }

    /** Names that an operator makes up are {@code *}, as in {@link KnownKeys#place}. */
    private static void collect(Node node, String path, Set<String> paths) {
        if (node instanceof SequenceNode sequence) {
            sequence.getValue().forEach(item -> collect(item, path + "[]", paths));
        }
        if (node instanceof MappingNode mapping) {
            boolean named = Set.of(
                            "tenants.groups",
                            "tenants.classes",
                            "tenants.plans",
                            "tenants.members",
                            "pools",
                            "upstreams")
                    .contains(path);
            for (NodeTuple entry : mapping.getValue()) {
                String key = named ? "*" : ((ScalarNode) entry.getKeyNode()).getValue();
                String below = path.isEmpty() ? key : path + "." + key;
                paths.add(below);
                collect(entry.getValueNode(), below, paths);
            }
        }
    }
}
