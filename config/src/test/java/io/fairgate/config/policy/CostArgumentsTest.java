package io.fairgate.config.policy;

import static org.assertj.core.api.Assertions.assertThat;

import com.networknt.schema.InputFormat;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import io.fairgate.config.PolicyReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the arguments of {@code Cost} may be, at their bounds; files in {@code bad/} have what they may not. */
class CostArgumentsTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "units: 0",
                "units: 1000000000000",
                "units: '0'",
                "max: 1",
                "max: '1000000000000'",
                "per: 1",
                "per: 1B",
                "per: 0010TB",
                "response: bytes",
                "response: header:X-Cost",
                "response: 'header: X-Cost'",
                "rules: '* /search = 3'",
                "rules: \"GET /a = 1,\\nGET /b = 2\"",
                "trusted-from: 10.0.0.0/8",
            })
    void valid_arguments_pass_the_reader_and_the_schema(String argument) throws IOException {
        String policy = """
                tenants: { identify: [ { header: X-Tenant-Id, trusted-from: [127.0.0.0/8] } ] }
                routes:
                  - id: it
                    uri: http://127.0.0.1:9
                    predicates: [ "Path=/**" ]
                    filters: [ { name: Cost, args: { %s } } ]
                """.formatted(argument);
        assertThat(PolicyReader.read("p.yml", policy).routes()).hasSize(1);
        assertThat(SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12)
                        .getSchema(Files.readString(Path.of("fairgate.schema.json")))
                        .validate(policy, InputFormat.YAML))
                .isEmpty();
    }
}
