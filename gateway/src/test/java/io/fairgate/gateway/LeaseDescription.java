package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The description in {@code /v1/openapi.json}, with which every answer of the lease API in a test is compared. */
final class LeaseDescription {

    private static final JsonMapper JSON = JsonMapper.builder().build();
    private static final JsonNode ROOT = read();

    private LeaseDescription() {}

    private static JsonNode read() {
        try (InputStream file = Objects.requireNonNull(
                LeaseDescription.class.getResourceAsStream("/io/fairgate/gateway/lease/openapi.json"))) {
            return JSON.readTree(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Every operation as {@code METHOD /path}. */
    static Set<String> operations() {
        Set<String> operations = new TreeSet<>();
        ROOT.get("paths")
                .forEachEntry((path, methods) -> methods.propertyNames()
                        .forEach(method -> operations.add(method.toUpperCase(java.util.Locale.ROOT) + " " + path)));
        return operations;
    }

    /** Ignores calls of paths that are not in the description. */
    static void assertDescribes(String method, String path, Answer answer) {
        for (Map.Entry<String, JsonNode> described : ROOT.get("paths").properties()) {
            String pattern = described.getKey().replaceAll("\\{\\w+}", "[^/]+");
            JsonNode operation = described.getValue().get(method.toLowerCase(java.util.Locale.ROOT));
            if (operation != null && path.matches(pattern)) {
                assertDescribes(operation, answer);
            }
        }
    }

    private static void assertDescribes(JsonNode operation, Answer answer) {
        JsonNode response = operation.get("responses").get(Integer.toString(answer.status()));
        assertThat(response)
                .as("%d among the answers: %s", answer.status(), answer.body())
                .isNotNull();
        JsonNode contents = resolved(response).get("content");
        if (contents == null) {
            assertThat(answer.body()).isEmpty();
            return;
        }
        JsonNode content = contents.get(answer.field("Content-Type"));
        assertThat(content)
                .as("%s of %d", answer.field("Content-Type"), answer.status())
                .isNotNull();
        assertFits(content.get("schema"), JSON.readTree(answer.body()), "body");
        resolved(response)
                .path("headers")
                .propertyNames()
                .forEach(header -> assertThat(answer.field(header)).as(header).isNotEmpty());
    }

    private static JsonNode resolved(JsonNode node) {
        JsonNode reference = node.get("$ref");
        return reference == null ? node : ROOT.at(reference.stringValue().substring(1));
    }

    private static void assertFits(JsonNode reference, JsonNode found, String where) {
        JsonNode schema = resolved(reference);
        String type = schema.path("type").asString("");
        boolean isOfType = switch (type) {
            case "object" -> found.isObject();
            case "array" -> found.isArray();
            case "string" -> found.isString();
            case "integer" -> found.isIntegralNumber();
            case "number" -> found.isNumber();
            default -> true;
        };
        assertThat(isOfType).as("%s: %s is of type %s", where, found, type).isTrue();
        if (schema.has("pattern")) {
            assertThat(found.stringValue())
                    .as(where)
                    .matches(schema.get("pattern").stringValue());
        }
        if (schema.has("minimum")) {
            assertThat(found.longValue())
                    .as(where)
                    .isGreaterThanOrEqualTo(schema.get("minimum").longValue());
        }
        if (schema.has("enum")) {
            assertThat(schema.get("enum")).as(where).contains(found);
        }
        found.forEach(each -> {
            if (found.isArray()) {
                assertFits(schema.get("items"), each, where + "[]");
            }
        });
        if (found.isObject()) {
            schema.path("required")
                    .forEach(key -> assertThat(found.has(key.stringValue()))
                            .as("%s has %s", where, key)
                            .isTrue());
            found.forEachEntry((key, value) -> {
                JsonNode named = schema.path("properties").get(key);
                JsonNode below = named != null ? named : schema.path("additionalProperties");
                if (below.isObject()) {
                    assertFits(below, value, where + "." + key);
                } else {
                    assertThat(below.asBoolean(true))
                            .as("%s.%s is described", where, key)
                            .isTrue();
                }
            });
        }
    }
}
