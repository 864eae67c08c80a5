package io.fairgate.redis.slice;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.redis.connection.RedisProcess;
import io.fairgate.redis.connection.RedisScript;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.sync.RedisCommands;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The scripts on a real Redis, and their model: the same calls get the same answers. */
class ScriptsAgainstKernelTest {

    /** Instead of the server's own clock and identity: those that the call names. */
    private static final String GIVEN_CLOCK = """
            local wall, server = string.match(ARGV[1], '^(%d+)/(.+)$')
            wall = tonumber(wall)
            """;

    private static final SliceTerm TERM = SliceTerm.USUAL;
    private static final long FAILOVER_MILLIS = 700;
    private static final int BEATS_OF_A_RECOVERY = 12;
    private static final long START = 1_760_000_000_000L;
    private static final SliceScripts SCRIPTS = new SliceScripts(TERM, FAILOVER_MILLIS);
    private static final String[] KEYS = SliceScripts.keys("orders");

    private static RedisProcess server;
    private static RedisClient client;
    private static RedisCommands<String, String> redis;

    private final SliceKernel kernel = new SliceKernel(TERM, FAILOVER_MILLIS, Set.of());
    private LedgerState state = new LedgerState();
    private long wall = START;
    private String identity = "a";

    @BeforeAll
    static void startRedis() throws IOException {
        server = new RedisProcess();
        client = RedisClient.create(RedisURI.create("127.0.0.1", server.port()));
        redis = client.connect().sync();
    }

    @AfterAll
    static void stopRedis() {
        client.shutdown();
        server.close();
    }

    @BeforeEach
    void clear() {
        redis.flushall();
    }

    private SliceAnswer heartbeat(Heartbeat beat) {
        List<Object> answer = redis.eval(
                SliceScripts.heartbeat(GIVEN_CLOCK),
                ScriptOutputType.MULTI,
                KEYS,
                SCRIPTS.arguments(beat, wall + "/" + identity));
        return SliceScripts.answer(beat, answer);
    }

    private List<Object> onLease(String script, String[] arguments) {
        return redis.eval(script, ScriptOutputType.MULTI, KEYS, arguments);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void the_same_calls_get_the_same_answers(long seed) {
        RandomCalls calls = new RandomCalls(new SplittableRandom(seed));
        for (int i = 0; i < 1_000; i++) {
            switch (calls.next()) {
                case TIME -> wall += calls.step();
                case OTHER_SERVER -> identity = calls.identity();
                case FLUSH -> {
                    redis.flushall();
                    state = new LedgerState();
                }
                case EXTEND -> {
                    RandomCalls.LeaseCall call = calls.lease();
                    boolean held = kernel.extend(
                            state, call.id(), call.token(), call.ttlMillis(), call.seen(), wall, identity);
                    List<Object> answer = onLease(
                            SliceScripts.extend(GIVEN_CLOCK),
                            SCRIPTS.extend(
                                    call.id(), call.token(), call.ttlMillis(), call.seen(), wall + "/" + identity));
                    assertThat(answer)
                            .containsExactly(
                                    held ? 1L : 0L, state.epoch, state.version, state.isRecovering() ? 1L : 0L);
                }
                case RELEASE -> {
                    RandomCalls.LeaseCall call = calls.lease();
                    boolean ends = kernel.release(state, call.id(), call.token(), call.seen(), wall, identity);
                    List<Object> answer = onLease(
                            SliceScripts.release(GIVEN_CLOCK),
                            SCRIPTS.release(call.id(), call.token(), call.seen(), wall + "/" + identity));
                    assertThat(answer).containsExactly(ends ? 1L : 0L, state.epoch, state.version);
                }
                case HEARTBEAT -> {
                    Heartbeat beat = calls.heartbeat(state);
                    SliceAnswer expected = kernel.heartbeat(state, beat, wall, identity);
                    assertThat(heartbeat(beat)).as("call %d: %s", i, beat).isEqualTo(expected);
                    calls.answered(expected);
                }
            }
            if (i % 5 == 0) {
                assertThat(recorded()).as("after call %d", i).isEqualTo(expectedRecords());
            }
        }
        assertThat(calls.kinds()).as("all outcomes were met").containsAll(Set.of(SliceAnswer.Outcome.values()));
    }

    /** What is in Redis, in the words of the model. */
    private List<String> recorded() {
        List<String> records = new ArrayList<>();
        redis.hgetall(KEYS[1]).forEach((name, node) -> records.add("node " + name + " " + node));
        redis.hgetall(KEYS[2]).forEach((id, lease) -> records.add("lease " + id + " " + lease));
        redis.hgetall(KEYS[5]).forEach((name, demand) -> records.add("demand " + name + " " + demand));
        redis.zrange(KEYS[4], 0, -1).forEach(id -> records.add("ended " + id));
        assertThat(redis.zrange(KEYS[3], 0, -1)).hasSameSizeAs(redis.hkeys(KEYS[2]));
        records.add("leased " + redis.hget(KEYS[0], "leased"));
        return records.stream().sorted().toList();
    }

    private List<String> expectedRecords() {
        List<String> records = new ArrayList<>();
        state.nodes.forEach(
                (name, node) -> records.add("node " + name + " " + node.slice() + " " + node.sequence() + " "
                        + node.expires() + " " + node.limit() + " " + (node.hasAsserted() ? 1 : 0) + " "
                        + (node.hasEnded() ? 1 : 0)));
        state.demands.forEach((name, demand) -> records.add("demand " + name + " " + demand));
        int leased = 0;
        for (var lease : state.leases.entrySet()) {
            LedgerState.Lease value = lease.getValue();
            leased += value.permits();
            records.add("lease " + lease.getKey() + " " + value.permits() + " " + value.expires() + " " + value.ttl()
                    + " " + value.token());
        }
        state.endedLeases.keySet().forEach(id -> records.add("ended " + id));
        String inRedis = redis.hget(KEYS[0], "leased");
        records.add("leased " + (inRedis == null ? null : leased));
        return records.stream().sorted().toList();
    }

    /** Random calls hardly ever do this. */
    @Test
    void a_node_that_keeps_more_than_is_recorded_is_believed_once() {
        List<Integer> kept = List.of(0, 5, 9);
        for (int i = 0; i < kept.size() * BEATS_OF_A_RECOVERY; i++) {
            wall += TERM.maxStep().toMillis();
            int keeps = kept.get(i / BEATS_OF_A_RECOVERY);
            Heartbeat beat = new Heartbeat("n", i + 1, LedgerVersion.NONE, keeps, keeps, 10, List.of(), "", false);
            SliceAnswer expected = kernel.heartbeat(state, beat, wall, identity);
            assertThat(heartbeat(beat)).as("heartbeat %d", i + 1).isEqualTo(expected);
            assertThat(expected.outcome() == SliceAnswer.Outcome.ENDED).isEqualTo(keeps == 9);
        }
    }

    @Test
    void what_a_node_told_whose_record_is_lost_is_told_no_more() {
        heartbeat(new Heartbeat("lost", 1, LedgerVersion.NONE, 0, 0, 10, List.of(), "its demand", false));
        redis.hdel(KEYS[1], "lost");
        SliceAnswer answer =
                heartbeat(new Heartbeat("n", 1, LedgerVersion.NONE, 0, 0, 10, List.of(), "demand of n", false));
        assertThat(answer.demands()).containsOnly(Map.entry("n", "demand of n"));
        assertThat(redis.hkeys(KEYS[5])).containsOnly("n");
    }

    @Test
    void a_server_gives_its_own_clock_and_identity() {
        Heartbeat beat = new Heartbeat("n", 1, LedgerVersion.NONE, 0, 3, 10, List.of(), "", false);
        List<Object> answer = redis.eval(
                SliceScripts.heartbeat(RedisScript.CLOCK),
                ScriptOutputType.MULTI,
                KEYS,
                SCRIPTS.arguments(beat, "unused"));
        assertThat(SliceScripts.answer(beat, answer).isRecovering())
                .as("at first")
                .isTrue();
        assertThat(redis.hget(KEYS[0], "server")).matches("[0-9a-f]{40}").isEqualTo(runId());
        assertThat(Long.parseLong(redis.hget(KEYS[0], "wall")))
                .isBetween(System.currentTimeMillis() - 60_000, System.currentTimeMillis() + 60_000);
        assertThat(Long.parseLong(redis.hget(KEYS[0], "epoch")))
                .as("tokens grow when one gateway alone becomes several")
                .isGreaterThan((System.currentTimeMillis() * 1000) >> SliceKernel.FENCE_BITS);
    }

    private static String runId() {
        return redis.info("server")
                .lines()
                .filter(line -> line.startsWith("run_id:"))
                .findFirst()
                .orElseThrow()
                .substring("run_id:".length());
    }

    @Test
    void a_user_that_may_not_ask_for_info_names_the_server_itself() {
        redis.aclSetuser(
                "limited",
                io.lettuce.core.AclSetuserArgs.Builder.on()
                        .nopass()
                        .keyPattern("fairgate:*")
                        .addCategory(io.lettuce.core.AclCategory.SCRIPTING)
                        .addCategory(io.lettuce.core.AclCategory.HASH)
                        .addCategory(io.lettuce.core.AclCategory.SORTEDSET)
                        .addCommand(io.lettuce.core.protocol.CommandType.TIME));
        RedisURI uri = RedisURI.builder()
                .withHost("127.0.0.1")
                .withPort(server.port())
                .withAuthentication("limited", "any")
                .build();
        Heartbeat beat = new Heartbeat("n", 1, LedgerVersion.NONE, 0, 3, 10, List.of(), "", false);
        try (var limited = client.connect(uri)) {
            limited.sync()
                    .eval(
                            SliceScripts.heartbeat(RedisScript.CLOCK),
                            ScriptOutputType.MULTI,
                            KEYS,
                            SCRIPTS.arguments(beat, "named"));
        }
        assertThat(redis.hget(KEYS[0], "server")).isEqualTo("named");
    }
}
