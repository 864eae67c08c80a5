package io.fairgate.config.policy;

import static org.assertj.core.api.Assertions.assertThat;

import com.networknt.schema.InputFormat;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** The JSON schema that is shipped, written with {@code -Dfairgate.docs=write}, against policies that are read as well. */
class PolicySchemaTest {

    private static final Path FILE = Path.of("fairgate.schema.json");
    private static final Path REFERENCE = Path.of("fairgate.yml");

    /** Bad policies that are well-formed: what is wrong is what a name stands for, or what several values make together. */
    private static final Path UNSEEN = Path.of("src/test/resources/bad-and-not-seen-by-the-schema.txt");

    static Stream<Path> good() throws IOException {
        try (Stream<Path> examples = Files.list(Path.of("examples"))) {
            return Stream.concat(Stream.of(REFERENCE), examples.sorted()).toList().stream();
        }
    }

    private static List<com.networknt.schema.Error> errors(Path policy) throws IOException {
        Schema schema = SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12)
                .getSchema(Files.readString(FILE));
        return schema.validate(Files.readString(policy), InputFormat.YAML);
    }

    /** What is no YAML at all is not for a schema to judge. */
    private static boolean isValid(Path policy) throws IOException {
        try {
            return errors(policy).isEmpty();
        } catch (JacksonException e) {
            return false;
        }
    }

    @Test
    void the_schema_agrees_with_the_keys_and_with_the_reference() throws IOException {
        String schema = JsonMapper.builder()
                        .enable(SerializationFeature.INDENT_OUTPUT)
                        .build()
                        .writeValueAsString(PolicySchema.of(Files.readString(REFERENCE)))
                + "\n";
        if ("write".equals(System.getProperty("fairgate.docs"))) {
            Files.writeString(FILE, schema);
        }
        assertThat(FILE).as("written with -Dfairgate.docs=write").hasContent(schema);
    }

    @Test
    void the_description_of_one_filter_is_not_that_of_all_filters() throws IOException {
        JsonNode route = JsonMapper.shared().readTree(FILE.toFile()).at("/properties/routes/items/properties");
        assertThat(route.at("/filters/description").stringValue()).startsWith("What changes a request");
        for (String steps : List.of("filters", "predicates")) {
            JsonNode name = route.at("/" + steps + "/items/anyOf/1/properties/name");
            assertThat(name.isObject()).isTrue();
            assertThat(name.has("description")).as(steps).isFalse();
        }
    }

    @ParameterizedTest
    @MethodSource("good")
    void a_policy_without_mistakes_is_valid(Path policy) throws IOException {
        assertThat(errors(policy)).isEmpty();
    }

    @Test
    void a_policy_that_the_reader_refuses_is_invalid_unless_a_schema_cannot_know() throws Exception {
        TreeSet<String> unseen = new TreeSet<>();
        try (Stream<Path> bad = Files.list(Path.of("src/test/resources/bad"))) {
            for (Path policy : bad.toList()) {
                if (isValid(policy)) {
                    unseen.add(String.valueOf(policy.getFileName()));
                }
            }
        }
        if ("write".equals(System.getProperty("fairgate.docs"))) {
            Files.write(UNSEEN, unseen);
        }
        assertThat(unseen).containsExactlyElementsOf(Files.readAllLines(UNSEEN));
    }
}
