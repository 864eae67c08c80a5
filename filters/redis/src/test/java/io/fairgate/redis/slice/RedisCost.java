package io.fairgate.redis.slice;

import io.fairgate.redis.connection.RedisAddress;
import io.fairgate.redis.connection.RedisConnections;
import io.fairgate.redis.connection.RedisProcess;
import io.fairgate.redis.division.LargeDemand;
import io.fairgate.redis.division.NodeDemand;
import io.fairgate.redis.slice.RedisCostReport.Measured;
import io.fairgate.tenant.TenantId;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.sync.RedisCommands;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Measures what it costs to share a pool through a real Redis. Writes {@code docs/reports/redis-performance.md}. */
final class RedisCost implements AutoCloseable {

    private static final int ROUNDS = 1_000;
    private static final int WARM_UP = 200;
    private static final Pattern SCRIPTS = Pattern.compile("cmdstat_evalsha:calls=(\\d+),usec=(\\d+)");
    private static final Duration ANSWERS_WITHIN = Duration.ofSeconds(10);

    private final RedisProcess server = new RedisProcess();
    private final RedisClient client;
    private final RedisCommands<String, String> redis;
    private final RedisAddress address;
    private final RedisConnections connections;

    private RedisCost() throws IOException {
        RedisURI uri = RedisURI.create("127.0.0.1", server.port());
        client = RedisClient.create(uri);
        redis = client.connect().sync();
        address = RedisAddress.of(uri);
        connections = new RedisConnections(address);
    }

    /**
     * Measures everything.
     *
     * @param args the page
     */
    public static void main(String[] args) throws IOException, InterruptedException {
        try (RedisCost cost = new RedisCost()) {
            double alone = new OnePermit(cost.address).perSecond(1);
            double together = new OnePermit(cost.address).perSecond(3);
            System.out.println("one permit: " + alone + " and " + together + " requests a second");
            double twoCalls = new LeaseCost(cost.connections).twoCalls();
            double lease = new LeaseCost(cost.connections).lease();
            System.out.println("a lease: " + lease + " µs, two calls: " + twoCalls + " µs");
            List<Measured> all = new ArrayList<>();
            for (RedisCostReport.Case each : RedisCostReport.CASES) {
                all.add(cost.measure(each));
                System.out.println(all.get(all.size() - 1));
            }
            Files.writeString(
                    Path.of(args[0]),
                    new RedisCostReport(
                                    cost.emptyScript(),
                                    all,
                                    new RedisCostReport.OnePermit(alone, together),
                                    new RedisCostReport.Lease(lease, twoCalls))
                            .text());
        }
    }

    /** One node, which sends a heartbeat after the other and keeps what it gets. */
    private final class Node {
        private final RedisLedger ledger =
                new RedisLedger("pool", new SliceScripts(SliceTerm.USUAL, 1_000), connections);
        private final String name;
        private final RedisCostReport.Case of;
        private final String demand;
        private LedgerVersion seen = LedgerVersion.NONE;
        private long sequence;
        private int slice;
        private boolean isRecovering = true;

        Node(int number, RedisCostReport.Case of) {
            this.name = "9f1c2d3e-aaaa-bbbb-cccc-" + (100_000 + number) + "-1";
            this.of = of;
            this.demand = new NodeDemand(
                            IntStream.range(0, of.tenants())
                                    .boxed()
                                    .collect(Collectors.toMap(tenant -> TenantId.of("tenant-" + tenant), t -> 1.37)),
                            0.42,
                            RedisCostReport.PERMITS,
                            LargeDemand.NONE)
                    .text();
        }

        void beat() {
            int wanted = RedisCostReport.PERMITS / of.nodes();
            Heartbeat beat = new Heartbeat(
                    name, ++sequence, seen, slice, wanted, RedisCostReport.PERMITS, List.of(), demand, false);
            SliceAnswer answer = Objects.requireNonNull(ledger.heartbeat(beat).block(ANSWERS_WITHIN));
            seen = answer.now();
            slice = answer.slice();
            isRecovering = answer.isRecovering();
        }
    }

    private Measured measure(RedisCostReport.Case of) {
        redis.flushall();
        List<Node> nodes =
                IntStream.range(0, of.nodes()).mapToObj(i -> new Node(i, of)).toList();
        do {
            nodes.forEach(Node::beat);
        } while (nodes.stream().anyMatch(node -> node.isRecovering));
        IntStream.range(0, WARM_UP).forEach(round -> nodes.forEach(Node::beat));
        redis.configResetstat();
        IntStream.range(0, ROUNDS).forEach(round -> nodes.forEach(Node::beat));
        return new Measured(of, scriptMicros());
    }

    /** What a script takes that does nothing. */
    private double emptyScript() {
        String empty = redis.scriptLoad("return 0");
        IntStream.range(0, WARM_UP).forEach(i -> redis.evalsha(empty, ScriptOutputType.INTEGER));
        redis.configResetstat();
        IntStream.range(0, ROUNDS).forEach(i -> redis.evalsha(empty, ScriptOutputType.INTEGER));
        return scriptMicros();
    }

    private double scriptMicros() {
        String statistics = redis.info("commandstats");
        Matcher scripts = SCRIPTS.matcher(statistics);
        if (!scripts.find()) {
            throw new IllegalStateException("no scripts in " + statistics);
        }
        return Double.parseDouble(scripts.group(2)) / Long.parseLong(scripts.group(1));
    }

    @Override
    public void close() {
        connections.close();
        client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
        server.close();
    }
}
