package io.fairgate.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.config.PolicyReference;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** What editors know of the properties of the starter. */
class ConfigurationMetadataTest {

    private static final Path FILE =
            Path.of("src/main/resources/META-INF/additional-spring-configuration-metadata.json");
    private static final String ALL = "META-INF/spring-configuration-metadata.json";

    private final List<Map<String, Object>> properties = new ArrayList<>();
    private final List<Map<String, Object>> hints = new ArrayList<>();

    /** The properties of the policy, from its schema. Below names that an operator makes up, an editor cannot complete. */
    private String ofThePolicy() {
        add(
                "fairgate.policy.enabled",
                "java.lang.Boolean",
                "Whether the policy in the properties below fairgate.policy is used."
                        + " A policy in a file is used unless this is false.");
        add(
                "fairgate.policy.file",
                "java.nio.file.Path",
                "A policy file, instead of properties below fairgate.policy. Its"
                        + " routes are added to those of the application, and it is read again when it changes.");
        below("fairgate.policy", JsonMapper.shared().readTree(PolicyReference.schema()));
        Map<String, Object> metadata = new LinkedHashMap<>();
        metadata.put("properties", properties);
        metadata.put("hints", hints);
        return JsonMapper.builder()
                        .enable(SerializationFeature.INDENT_OUTPUT)
                        .build()
                        .writeValueAsString(metadata)
                + "\n";
    }

    private void below(String prefix, JsonNode section) {
        section.get("properties").properties().forEach(entry -> {
            String name = prefix + "." + entry.getKey();
            JsonNode key = entry.getValue();
            if (key.has("properties")) {
                below(name, key);
            } else if (!name.equals("fairgate.policy.routes")) {
                add(name, type(key), key.get("description").stringValue());
                JsonNode values = key.at("/anyOf/0/enum");
                if (!values.isMissingNode()) {
                    hints.add(hint(name, values));
                }
            }
        });
    }

    private void add(String name, String type, String description) {
        Map<String, Object> property = new LinkedHashMap<>();
        property.put("name", name);
        property.put("type", type);
        property.put("description", description);
        properties.add(property);
    }

    private static String type(JsonNode key) {
        return switch (key.path("type").asString("")) {
            case "array" -> "java.util.List<java.lang.Object>";
            case "object" -> "java.util.Map<java.lang.String,java.lang.Object>";
            default ->
                key.at("/anyOf/0/type").asString("").equals("boolean") ? "java.lang.Boolean" : "java.lang.String";
        };
    }

    private static Map<String, Object> hint(String name, JsonNode values) {
        List<Map<String, Object>> all = new ArrayList<>();
        values.forEach(value -> all.add(Map.of("value", value.stringValue())));
        Map<String, Object> hint = new LinkedHashMap<>();
        hint.put("name", name);
        hint.put("values", all);
        return hint;
    }

    @Test
    void the_properties_of_the_policy_are_described_as_the_reference_does() throws IOException {
        String metadata = ofThePolicy();
        if ("write".equals(System.getProperty("fairgate.docs"))) {
            Files.writeString(FILE, metadata);
        }
        assertThat(FILE).as("written with -Dfairgate.docs=write").hasContent(metadata);
        assertThat(properties)
                .extracting(each -> each.get("name"))
                .contains("fairgate.policy.pools", "fairgate.policy.tenants.identify", "fairgate.policy.enforce");
    }

    /** The compiler's processor merges them with the settings, which it describes from their Javadoc. */
    @Test
    void the_jar_describes_settings_and_policy() throws IOException {
        try (InputStream in = Objects.requireNonNull(
                getClass().getClassLoader().getResourceAsStream(ALL),
                "run by Maven, which has an annotation processor")) {
            JsonNode all = JsonMapper.shared().readTree(in).get("properties");
            Map<String, JsonNode> byName = new LinkedHashMap<>();
            all.forEach(each -> byName.put(each.get("name").stringValue(), each));
            assertThat(byName).containsKeys("fairgate.policy.file", "fairgate.policy.pools");
            assertThat(byName.get("fairgate.drain-time").get("defaultValue").stringValue())
                    .isEqualTo("10s");
            assertThat(byName.values())
                    .as("have a description")
                    .allSatisfy(each -> assertThat(each.path("description").asString(""))
                            .as(each.get("name").stringValue())
                            .isNotEmpty());
        }
    }
}
