package io.fairgate.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.fairgate.config.model.InvalidPolicyException;
import io.fairgate.config.model.PolicyFile;
import io.fairgate.config.model.RouteDeclaration;
import io.fairgate.config.yaml.Placeholders;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Values that stand elsewhere. */
class PlaceholdersTest {

    private static final String SECRET = "s3cr3t-t0ken";

    private static final Map<String, String> ENVIRONMENT = Map.of("TOKEN", SECRET, "PERMITS", "12", "NAME", "orders");

    private static PolicyFile read(String policy) {
        return PolicyReader.read("fairgate.yml", policy, new Placeholders(ENVIRONMENT, null));
    }

    private static String policy(String permits, String filter) {
        return """
                tenants:
                  identify: [ { header: X-Tenant-Id, trusted-from: [127.0.0.0/8] } ]
                pools:
                  orders: { permits: %s }
                routes:
                  - id: it
                    uri: http://localhost:9000
                    predicates: [ Path=/x ]
                    filters: [ %s ]
                """.formatted(permits, filter);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "${TOKEN} | s3cr3t-t0ken",
                "a ${TOKEN} b ${NAME} | a s3cr3t-t0ken b orders",
                "${NOT_SET:otherwise} | otherwise",
                "${NOT_SET:} | ''",
                "${TOKEN:otherwise} | s3cr3t-t0ken",
                "/a/$\\{segment} | /a/${segment}",
                "$TOKEN 5$ | $TOKEN 5$",
                "{TOKEN} | {TOKEN}",
            })
    void a_placeholder_becomes_what_it_stands_for(String text, String filled) throws Exception {
        assertThat(new Placeholders(ENVIRONMENT, null).fill(text)).isEqualTo(filled);
    }

    @Test
    void a_value_that_is_filled_in_has_the_type_that_is_expected_there() {
        PolicyFile file = read(policy("'${PERMITS}'", "\"FairShare=${NAME}\""));
        assertThat(file.policy().pools().get("orders"))
                .isNotNull()
                .satisfies(pool -> assertThat(pool.permits()).isEqualTo(12));
        assertThat(file.routes().get(0).definition()).containsEntry("filters", List.of("FairShare=orders"));
    }

    @Test
    void a_file_is_read_without_the_end_of_its_last_line(@TempDir Path folder) throws Exception {
        Files.writeString(folder.resolve("token"), SECRET + "\n");
        Placeholders placeholders = new Placeholders(Map.of(), folder);
        assertThat(placeholders.fill("Bearer ${file:token}")).isEqualTo("Bearer " + SECRET);
        assertThat(placeholders.fill("${file:" + folder.resolve("token") + "}")).isEqualTo(SECRET);
        assertThatThrownBy(() -> placeholders.fill("${file:absent}")).hasMessageContaining("a file of at most 64 KB");
        assertThatThrownBy(() -> placeholders.fill("${file:.}")).hasMessageContaining("a file of at most 64 KB");
    }

    @Test
    void a_relative_path_begins_where_the_policy_file_is(@TempDir Path folder) throws IOException {
        Files.writeString(folder.resolve("permits"), "7\n");
        Path file = Files.writeString(folder.resolve("fairgate.yml"), policy("'${file:permits}'", ""));
        assertThat(PolicyReader.read(file).policy().pools().get("orders"))
                .isNotNull()
                .satisfies(pool -> assertThat(pool.permits()).isEqualTo(7));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "${NOT_SET} | the environment variable NOT_SET to be set, or a default as in ${NOT_SET:default}; write $\\{ for a literal ${",
                "${not a name} | ${NAME} with the name of an environment variable, or ${file:PATH}; write $\\{ for a literal ${",
                "${} | ${NAME} with the name of an environment variable, or ${file:PATH}; write $\\{ for a literal ${",
                "${TOKEN | a closing }; write $\\{ for a literal ${",
            })
    void a_missing_variable_or_file_is_a_mistake_at_its_key(String permits, String expected) {
        InvalidPolicyException invalid =
                catchThrowableOfType(InvalidPolicyException.class, () -> read(policy("'" + permits + "'", "")));
        assertThat(invalid.mistakes())
                .first()
                .satisfies(mistake -> assertThat(mistake.toString())
                        .isEqualTo("fairgate.yml:4: pools.orders.permits: \"%s\" (expected: %s)"
                                .formatted(permits, expected)));
    }

    @Test
    void a_mistake_shows_what_the_file_says_and_never_what_was_filled_in() {
        InvalidPolicyException invalid = catchThrowableOfType(
                InvalidPolicyException.class, () -> read(policy("'${TOKEN}'", "\"FairShare=${TOKEN}\"")));
        assertThat(invalid.getMessage()).contains("permits: \"${TOKEN}\"").doesNotContain(SECRET);
    }

    @Test
    void a_route_can_be_talked_of_without_what_was_filled_in() {
        RouteDeclaration route = read(policy("1", "\"AddRequestHeader=Authorization, Bearer ${TOKEN}\""))
                .routes()
                .get(0);
        assertThat(route.definition().toString()).contains(SECRET);
        assertThat(route.withoutSecrets("Bearer " + SECRET + " is not a number"))
                .isEqualTo("Bearer ${TOKEN} is not a number");
        assertThat(route.toString()).doesNotContain(SECRET);
    }

    @Test
    void a_part_of_what_was_filled_in_is_not_shown_either() {
        Placeholders placeholders = new Placeholders(Map.of("TOKEN", "abcd, efgh-secret"), null);
        RouteDeclaration route = PolicyReader.read(
                        "fairgate.yml", policy("1", "\"AddRequestHeadersIfNotPresent=X:${TOKEN}\""), placeholders)
                .routes()
                .get(0);
        assertThat(route.withoutSecrets("efgh-secret would be ignored")).isEqualTo("${TOKEN} would be ignored");
    }

    @Test
    void an_alias_of_a_placeholder_is_filled_in_as_well() {
        PolicyFile file = read(policy("&n '${PERMITS}'", "").replace("routes:", "  more: { permits: *n }\nroutes:"));
        assertThat(file.policy().pools().get("more"))
                .isNotNull()
                .satisfies(pool -> assertThat(pool.permits()).isEqualTo(12));
    }
}
