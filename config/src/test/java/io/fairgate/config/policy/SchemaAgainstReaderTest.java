package io.fairgate.config.policy;

import static org.assertj.core.api.Assertions.assertThat;

import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import io.fairgate.config.PolicyReader;
import io.fairgate.config.model.InvalidPolicyException;
import io.fairgate.config.model.PolicyFile;
import io.fairgate.config.routes.BuiltIns;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.Yaml;
import tools.jackson.databind.json.JsonMapper;

/**
 * The reference, with one thing changed at a time, for every key in it: an editor is never to mark what the reader takes,
 * and is to mark a key that is missing.
 */
class SchemaAgainstReaderTest {

    private static final List<Object> ODD = List.of(
            -1,
            0,
            7,
            1_000_001,
            0.5,
            1e15,
            true,
            false,
            "",
            "x y",
            "5s",
            "PT1H",
            "day",
            "close",
            "legacy",
            "UTC",
            "free",
            "gold",
            "week",
            "acme-corp",
            "san-dns",
            "round-robin",
            "/x",
            "http://localhost:1",
            List.of("http://localhost:1"),
            List.of(),
            Map.of());

    /** Lists without which, and with any odd value of which, the policy is refused. */
    private static final Set<String> REQUIRED =
            Set.of(".tenants.identify", ".tenants.trusted-proxies", ".tenants.members.initech.plan");

    private final Yaml yaml = new Yaml();
    private final JsonMapper json = new JsonMapper();
    private final Map<String, Object> policy = new LinkedHashMap<>();
    private final List<String> tooStrict = new ArrayList<>();
    private final List<String> notMissed = new ArrayList<>();
    private final Schema schema;
    private final List<String> notUsed = new ArrayList<>();
    private PolicyFile reference = PolicyFile.NOTHING;
    private int tried;

    SchemaAgainstReaderTest() throws IOException {
        schema = SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12)
                .getSchema(Files.readString(Path.of("fairgate.schema.json")));
    }

    @BeforeEach
    void load() throws IOException {
        // With a member that overrides nothing of its plan, so that a change of the plan shows.
        String member = "  members:\n    initech: { plan: free }\n";
        policy.putAll(yaml.load(Files.readString(Path.of("fairgate.yml")).replaceFirst("(?m)^  members:\n", member)));
    }

    @Test
    void the_schema_is_never_stricter_than_the_reader_and_both_know_the_same_keys() {
        reference = PolicyReader.read("policy.yml", yaml.dump(policy));
        vary(policy, "");

        assertThat(tooStrict).isEmpty();
        assertThat(notMissed).isEmpty();
        assertThat(notUsed)
                .as("keys that PolicyKeys declares and no reader uses")
                .isEmpty();
        assertThat(tried).isGreaterThan(1000);
    }

    @SuppressWarnings("unchecked")
    private void vary(Object within, String path) {
        if (within instanceof Map<?, ?> mapping) {
            Map<String, Object> entries = (Map<String, Object>) mapping;
            for (String key : List.copyOf(entries.keySet())) {
                Object value = Objects.requireNonNull(entries.get(key), key);
                String below = path + "." + key;
                boolean isUsed = false;
                for (Object odd : ODD) {
                    entries.put(key, odd);
                    isUsed |= changesThePolicy(below + ": " + odd);
                }
                entries.remove(key);
                isUsed |= changesThePolicy(below + " left out");
                boolean isChecked =
                        !(value instanceof Map) && !below.startsWith(".routes") && !REQUIRED.contains(below);
                if (!isUsed && isChecked) {
                    notUsed.add(below);
                }
                entries.put(key, value);
                vary(value, below);
            }
        } else if (within instanceof List<?> list) {
            List<Object> items = (List<Object>) list;
            for (int i = 0; i < items.size(); i++) {
                Object value = items.get(i);
                for (Object odd : ODD) {
                    items.set(i, odd);
                    changesThePolicy(path + "[" + i + "]: " + odd);
                }
                items.set(i, value);
                vary(value, path + "[" + i + "]");
            }
        }
    }

    /** Whether the reader takes the changed file and reads something else than before. */
    private boolean changesThePolicy(String what) {
        tried++;
        boolean isValid = schema.validate(json.valueToTree(policy)).isEmpty();
        try {
            PolicyFile read = PolicyReader.read("policy.yml", yaml.dump(policy));
            boolean isBuilt = read.routes().stream().allMatch(BuiltIns::areAllOf); // Otherwise the gateway refuses it.
            if (!isValid && isBuilt) {
                tooStrict.add(what);
            }
            return !read.policy().equals(reference.policy());
        } catch (InvalidPolicyException e) {
            if (isValid
                    && e.mistakes().stream().anyMatch(mistake -> mistake.found().equals("missing"))) {
                notMissed.add(what + " -> " + e.getMessage());
            }
            return false;
        }
    }
}
