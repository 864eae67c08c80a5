package io.fairgate.config.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.networknt.schema.InputFormat;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import io.fairgate.config.PolicyReader;
import io.fairgate.config.model.InvalidPolicyException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The schema and the reader agree about predicates, filters and metadata in all their spellings. */
class SchemaOfRoutesTest {

    private final Schema schema;

    SchemaOfRoutesTest() throws IOException {
        schema = SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12)
                .getSchema(Files.readString(Path.of("fairgate.schema.json")));
    }

    private static String policy(String predicate, String filter, String metadata) {
        return """
                tenants:
                  identify: [ { header: X-Tenant-Id, trusted-from: [127.0.0.0/8] } ]
                  members: { a: { plan: p } }
                  plans: { p: {} }
                pools: { pool: { permits: 4 } }
                routes:
                  - id: it
                    uri: http://127.0.0.1:9
                    predicates: [ %s ]
                    filters: [ FairShare=pool, %s ]
                    metadata: { %s }
                """.formatted(predicate, filter, metadata);
    }

    private void agree(String policy) {
        PolicyReader.read("p.yml", policy);
        assertThat(schema.validate(policy, InputFormat.YAML)).isEmpty();
    }

    private void bothRefuse(String policy) {
        assertThatThrownBy(() -> PolicyReader.read("p.yml", policy)).isInstanceOf(InvalidPolicyException.class);
        assertThat(schema.validate(policy, InputFormat.YAML)).isNotEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "'Path=/a/**,'",
                "'Path=/a/**,TRUE'",
                "'Path= /a/{id:[0-9]+} , /b, false'",
                "'Path=#{systemProperties.path}'",
                "{ name: Path, args: { patterns: [ '/a/{id:[0-9]{1,2}}', /b ], matchTrailingSlash: 'FALSE' } }",
                "{ name: Path, args: { pattern: /a } }",
                "{ name: Query, args: { _genkey_0: color, _genkey_1: red } }",
                "{ name: Weight, args: { weight.group: g, weight.weight: 5 } }",
                "'Method=GET, PURGE,OPTIONS'",
                "'Method=Gets'",
                "\"Method=#{'GET'}\"",
                "'Header=X-Id, \\d+'",
                "Header=X-Id",
                "'CloudFoundryRouteService='",
                "{ name: CloudFoundryRouteService }",
                "'Host=**.somehost.org,**.anotherhost.org'",
                "'RemoteAddr=192.168.1.1/24, 10.0.0.0/8'",
                "'Tenant=a, a'",
                "\"Path=${P:/a}\"",
                "\"${P:Path=/a}\"",
            })
    void a_predicate_is_accepted(String predicate) {
        agree(policy(predicate, "StripPrefix=1", ""));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "'Path=a'",
                "Path",
                "'Path=/a, b/c, d'",
                "{ name: Path }",
                "{ name: Path, args: {} }",
                "{ name: Path, args: { patterns: [ ' /a' ] } }",
                "{ name: Path, args: { patterns: '/a, /b' } }",
                "'Method=get'",
                "'Method=GET,Post'",
                "'Method='",
                "{ name: Method, args: { methods: [ Get ] } }",
                "{ name: Method, args: { methods: [ ' GET' ] } }",
                "{ name: Method, args: { methods: 'GET,POST' } }",
                "Host",
                "CloudFoundryRouteService",
                "{ name: Query, args: { parm: x } }",
                "'Cookie=a,b,c'",
            })
    void a_predicate_is_refused(String predicate) {
        bothRefuse(policy(predicate, "StripPrefix=1", ""));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{ name: SecureHeaders, args: { disable: x-frame-options, permissions-policy: a } }",
                "{ name: RequestSize, args: { max-size: 1KB } }",
                "{ name: RequestSize, args: { MAXSIZE: 1KB } }",
                "{ name: Retry, args: { retries: 3, methods: 'GET, POST', backoff: { based-on-previous-value: false } } }",
                "{ name: Retry, args: { methods: [ GET ], backoff.firstBackoff: 10ms } }",
                "'Retry=3,BAD_GATEWAY,GET'",
                "\"AddRequestHeader=X-A, #{systemProperties} ${P:x}\"",
                "\"AddRequestHeader=X-A, #{id}\"",
                "'RewritePath=/red/?(?<segment>.*), /$\\{segment}'",
                "'RewriteLocationResponseHeader=AS_IN_REQUEST, Location, ,'",
                "'AddRequestHeadersIfNotPresent=X:Y,Z:W,A:B,C:D'",
                "'Cost=2'",
            })
    void a_filter_is_accepted(String filter) {
        agree(policy("Path=/a", filter, ""));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "'AddRequestHeader=Accept, text/html, text/plain'",
                "RequestSize=1KB",
                "{ name: RequestSize, args: { maxsiz: 1KB } }",
                "{ name: AddRequestHeader, args: { _genkey_foo: 1 } }",
                "{ name: Retry, args: { methods: [ get ] } }",
                "{ name: Retry, args: { methods: { a: b } } }",
                "'Cost=2,3'",
            })
    void a_filter_is_refused(String filter) {
        bothRefuse(policy("Path=/a", filter, ""));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "response-timeout: '5000'",
                "response-timeout: '-1'",
                "response-timeout: PT5S",
                "connect-timeout: '${T:5s}'",
                "cors: { allowedOrigins: '*', allowedHeaders: [ 1 ], maxAge: 30 }",
                "other: { a: [ 1 ] }",
            })
    void metadata_are_accepted(String metadata) {
        agree(policy("Path=/a", "StripPrefix=1", metadata));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "response-timeout: soon",
                "connect-timeout: -1",
                "connect-timeout: none",
                "cors: { allowed-origins: '*' }",
                "cors: { allowedMethods: [ Get ] }",
                "cors: { maxAge: '30' }",
            })
    void metadata_are_refused(String metadata) {
        bothRefuse(policy("Path=/a", "StripPrefix=1", metadata));
    }
}
