package io.fairgate.redis.lease;

import io.fairgate.lease.LeaseId;
import io.fairgate.redis.connection.SharedRedis;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.sync.RedisCommands;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/** The script of the book in a real Redis, on the clock of the test, and a network that can be cut. */
final class NearBook implements BookCalls {

    private static final String GIVEN_CLOCK = """
            local wall, server = string.match(ARGV[1], '^(%d+)/(.+)$')
            wall = tonumber(wall)
            """;
    private static final String SCRIPT = BookCalls.script(GIVEN_CLOCK);

    private static final RedisCommands<String, String> REDIS = SharedRedis.commands();

    private final Scheduler time;

    /** What the server's clock is ahead of that of the test, in milliseconds. */
    long ahead = 1_760_000_000_000L;

    String server = "a";

    /** How long a call is on its way to the server; its answer is there at once. */
    Duration oneWay = Duration.ZERO;

    boolean isLost;

    /** Whether calls arrive and answers do not. */
    boolean isAnswerLost;

    /** The answer of the next such call is lost. */
    Predicate<List<String>> losesAnswerOf = call -> false;

    int calls;

    NearBook(Scheduler time) {
        this.time = time;
    }

    static RedisCommands<String, String> redis() {
        return REDIS;
    }

    /** Whether the call brings a grant into the book. */
    static boolean isGrant(List<String> call) {
        return call.get(5).equals("change") && call.get(14).equals("1");
    }

    /** A record as the script keeps it; null when there is none. */
    static @Nullable String record(LeaseId id) {
        return REDIS.hget(KEYS.get(1), id.toString());
    }

    static List<String> records() {
        return REDIS.hvals(KEYS.get(1));
    }

    @Override
    public Mono<List<Object>> call(List<String> arguments) {
        return Mono.create(sink -> {
            Runnable arrival = () -> {
                if (isLost) {
                    sink.error(new IOException("connection reset"));
                    return;
                }
                List<Object> answer = execute(arguments);
                boolean isLostNow = losesAnswerOf.test(arguments);
                losesAnswerOf = isLostNow ? call -> false : losesAnswerOf;
                if (!isAnswerLost && !isLostNow) {
                    sink.success(answer);
                }
            };
            var unused = time.createWorker().schedule(arrival, oneWay.toNanos(), TimeUnit.NANOSECONDS);
        });
    }

    List<Object> execute(List<String> arguments) {
        calls++;
        List<String> all = new ArrayList<>(arguments);
        all.set(0, time.now(TimeUnit.MILLISECONDS) + ahead + "/" + server);
        return REDIS.eval(SCRIPT, ScriptOutputType.MULTI, KEYS.toArray(String[]::new), all.toArray(String[]::new));
    }
}
