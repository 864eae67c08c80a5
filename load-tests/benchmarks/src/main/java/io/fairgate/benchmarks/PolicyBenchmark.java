package io.fairgate.benchmarks;

import io.fairgate.config.PolicyReader;
import io.fairgate.config.model.PolicyFile;
import io.fairgate.policy.ApiKeyHash;
import java.io.StringReader;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.nodes.Node;

/**
 * Reads and checks a policy of 10,000 tenants, each with an API key and two quotas. The baseline is SnakeYAML alone, which
 * builds a tree of nodes with their line numbers.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class PolicyBenchmark {

    static final int TENANTS = 10_000;

    private static final String HEAD = """
            tenants:
              identify:
                - api-key: { header: X-Api-Key }
              plans:
                standard: { weight: 1 }
              members:
            """;

    private static final String MEMBER = """
                tenant-%1$d:
                  plan: standard
                  weight: %2$d
                  api-keys: [ "%3$s" ]
                  quotas:
                    - { name: burst, limit: 100, per: 1s, burst: 200 }
                    - { name: monthly, limit: 1000000, per: month }
            """;

    private static final String FOOT = """
            pools:
              backend: { permits: 100, max-waiting: 1000, max-wait: 5s }
            """;

    private final String text = text();

    private static String text() {
        StringBuilder text = new StringBuilder(HEAD);
        for (int i = 0; i < TENANTS; i++) {
            text.append(MEMBER.formatted(i, 1 + i % 9, ApiKeyHash.of("key " + i).text()));
        }
        return text.append(FOOT).toString();
    }

    @Benchmark
    public PolicyFile read() {
        return PolicyReader.read("policy.yml", text);
    }

    @Benchmark
    public Node parse() {
        LoaderOptions options = new LoaderOptions();
        options.setCodePointLimit(Integer.MAX_VALUE);
        return new Yaml(options).compose(new StringReader(text));
    }
}
